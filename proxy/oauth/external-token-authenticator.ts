import { TokenRequiredError } from '../errors/oauth-errors.ts';
import type { Caller } from '../identity/caller.ts';
import type { Revocation } from '../store/revocations.ts';
import type { Stores } from '../store/stores.ts';
import type { ExternalTokenClaims, ExternalTokens } from './external-token.ts';

/** How long a token is believed without asking the stores: what a lost revocation can cost. */
const CHECK_LIFETIME_MS = 5_000;

const MAX_TOKENS = 10_000;

/** What a token must be good for. */
export interface ExternalTokenUse {
  /** Resource identifier of the route that is called. */
  readonly resource: string;
  readonly gatewayId: string;
}

type Dependencies = Pick<Stores, 'sessions' | 'grants' | 'revokedTokens' | 'revocations'>;

interface KnownToken {
  readonly claims: ExternalTokenClaims;
  /** The last check's result; absent before the first one ends. */
  checked?: { readonly caller: Caller; readonly at: number };
  /** The check under way: requests with one token share it. */
  check?: Promise<Caller>;
  isRevoked: boolean;
}

/**
 * Tells whose an external token is.
 *
 * A token that was seen within the last 5 seconds costs no I/O and no promise. Expiry and audience
 * are checked every time, and a revocation that is heard of ends the token at once.
 */
export class ExternalTokenAuthenticator {
  readonly #externalTokens: ExternalTokens;
  readonly #stores: Dependencies;
  /** By the token itself; the one whose check is oldest comes first. */
  readonly #known = new Map<string, KnownToken>();
  readonly #unsubscribe: () => void;

  constructor(externalTokens: ExternalTokens, stores: Dependencies) {
    this.#externalTokens = externalTokens;
    this.#stores = stores;
    this.#unsubscribe = stores.revocations.subscribe((revocation) => {
      this.#drop(revocation);
    });
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    this.#known.clear();
  }

  /**
   * The user a token stands for. Throws or rejects with a `TokenRequiredError` when it is no good
   * for this use. `now` in milliseconds since the epoch.
   */
  authenticate(
    token: string,
    use: ExternalTokenUse,
    now: number = Date.now(),
  ): Caller | Promise<Caller> {
    const known = this.#known.get(token) ?? this.#open(token);
    refuseMisuse(known.claims, use, now);
    const { checked } = known;
    if (checked !== undefined && now - checked.at < CHECK_LIFETIME_MS) return checked.caller;
    known.check ??= this.#check(token, known, now);
    return known.check;
  }

  /** A token that no key of ours sealed is refused here, before any store is asked. */
  #open(token: string): KnownToken {
    const claims = this.#externalTokens.open(token);
    if (claims === null) throw refusal('malformed');
    return { claims, isRevoked: false };
  }

  async #check(token: string, known: KnownToken, now: number): Promise<Caller> {
    this.#remember(token, known);
    try {
      const caller = await this.#findCaller(known.claims);
      // Heard while the stores were asked: their answer may be from before.
      if (known.isRevoked) throw refusal('revoked');
      known.checked = { caller, at: now };
      return caller;
    } catch (error) {
      this.#forget(token, known);
      throw error;
    } finally {
      delete known.check;
    }
  }

  async #findCaller({ tokenId, grantId, sessionId }: ExternalTokenClaims): Promise<Caller> {
    const [isRevoked, grant, session] = await Promise.all([
      this.#stores.revokedTokens.isRevoked(tokenId),
      this.#stores.grants.get(grantId),
      this.#stores.sessions.get(sessionId),
    ]);
    if (isRevoked) throw refusal('revoked');
    if (grant === null) throw refusal('grant-gone');
    if (session === null) throw refusal('session-gone');
    return { kind: 'user', session, via: 'external-token' };
  }

  #remember(token: string, known: KnownToken): void {
    this.#known.delete(token);
    if (this.#known.size >= MAX_TOKENS) {
      const oldest = this.#known.keys().next();
      if (oldest.done !== true) this.#known.delete(oldest.value);
    }
    this.#known.set(token, known);
  }

  #forget(token: string, known: KnownToken): void {
    if (this.#known.get(token) === known) this.#known.delete(token);
  }

  #drop(revocation: Revocation): void {
    for (const [token, known] of this.#known) {
      if (!standsOn(known.claims, revocation)) continue;
      known.isRevoked = true;
      this.#known.delete(token);
    }
  }
}

/** Pure arithmetic on what the token itself says. */
function refuseMisuse(
  { gatewayId, audience, expiresAt }: ExternalTokenClaims,
  use: ExternalTokenUse,
  now: number,
): void {
  if (expiresAt <= now) throw refusal('expired');
  // A token for one route is no good on another (RFC 8707; MCP: token audience binding).
  if (gatewayId !== use.gatewayId || audience !== use.resource) throw refusal('audience-mismatch');
}

function standsOn(claims: ExternalTokenClaims, revocation: Revocation): boolean {
  switch (revocation.kind) {
    case 'session':
      return claims.sessionId === revocation.sessionId;
    case 'grant':
      return claims.grantId === revocation.grantId;
    case 'token':
      return claims.tokenId === revocation.jwtId;
    case 'browser':
      // Signing out of the browser leaves the user's MCP clients connected.
      return false;
  }
}

type Refusal =
  'malformed' | 'expired' | 'audience-mismatch' | 'revoked' | 'session-gone' | 'grant-gone';

function refusal(reason: Refusal): TokenRequiredError {
  return new TokenRequiredError(reason, { tokenWasSent: true });
}
