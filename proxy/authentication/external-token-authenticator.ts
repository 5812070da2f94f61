import { TokenRequiredError } from '../errors/oauth-errors.ts';
import type { Caller } from './caller.ts';
import { CheckCache, type KnownRevocation } from './check-cache.ts';
import type { Session } from '../records/session.ts';
import type { Stores } from '../store/stores.ts';
import type { ExternalTokenClaims, ExternalTokens } from './external-token.ts';

const MAX_TOKENS = 10_000;

/** What a token must be good for. */
export interface ExternalTokenUse {
  /** Resource identifier of the route that is called. */
  readonly resource: string;
  readonly gatewayId: string;
}

export interface ExternalTokenAuthenticatorOptions {
  readonly externalTokens: ExternalTokens;
  readonly stores: Pick<Stores, 'sessions' | 'grants' | 'revokedTokens' | 'revocations'>;
  /** How long the last good check counts while the stores are away. */
  readonly outageGraceSeconds: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface KnownToken {
  readonly claims: ExternalTokenClaims;
  readonly caller: Caller & { readonly kind: 'user' };
}

/**
 * Tells whose an external token is.
 *
 * A token that was seen within the last 5 seconds costs no I/O and no promise. Expiry and audience
 * are checked every time, and a revocation that is heard of ends the token at once.
 */
export class ExternalTokenAuthenticator implements Disposable {
  readonly #externalTokens: ExternalTokens;
  readonly #stores: ExternalTokenAuthenticatorOptions['stores'];
  readonly #now: () => number;
  /** By the token itself. */
  readonly #known: CheckCache<KnownToken>;

  constructor({
    externalTokens,
    stores,
    outageGraceSeconds,
    now,
  }: ExternalTokenAuthenticatorOptions) {
    this.#externalTokens = externalTokens;
    this.#stores = stores;
    this.#now = now;
    this.#known = new CheckCache<KnownToken>({
      revocations: stores.revocations,
      maxEntries: MAX_TOKENS,
      standsOn: ({ claims }, revocation) => standsOn(claims, revocation),
      expiryOf: ({ caller }) => caller.session.expiresAt,
      outageGraceSeconds,
      now,
    });
  }

  [Symbol.dispose](): void {
    this.#known[Symbol.dispose]();
  }

  /**
   * The user a token stands for. Throws or rejects with a `TokenRequiredError` when it is no good
   * for this use.
   */
  authenticate(token: string, use: ExternalTokenUse): Caller | Promise<Caller> {
    const claims = this.#known.lastKnown(token)?.claims ?? this.#open(token);
    refuseMisuse(claims, use, this.#now());
    const known = this.#known.get(token, () => this.#check(claims));
    return known instanceof Promise ? known.then(requireCaller) : requireCaller(known);
  }

  /** A token that no key of ours sealed is refused here, before any store is asked. */
  #open(token: string): ExternalTokenClaims {
    const claims = this.#externalTokens.open(token);
    if (claims === null) throw refusal('malformed');
    return claims;
  }

  async #check(claims: ExternalTokenClaims): Promise<KnownToken> {
    const session = this.#liveSession(claims);
    const answers = [session, this.#refuseRevoked(claims), this.#refuseWithoutGrant(claims)];
    const failures = (await Promise.allSettled<unknown>(answers)).filter(isRejected);
    // A store that says no is believed, whether or not the others answer.
    const failure = failures.find(({ reason }) => reason instanceof TokenRequiredError);
    if (failure !== undefined) throw failure.reason;
    await Promise.all(answers);
    return { claims, caller: { kind: 'user', session: await session, via: 'external-token' } };
  }

  async #liveSession({ sessionId }: ExternalTokenClaims): Promise<Session> {
    const session = await this.#stores.sessions.get(sessionId);
    if (session === null || session.expiresAt <= this.#now()) throw refusal('session-gone');
    return session;
  }

  async #refuseRevoked({ tokenId }: ExternalTokenClaims): Promise<void> {
    if (await this.#stores.revokedTokens.isRevoked(tokenId)) throw refusal('revoked');
  }

  async #refuseWithoutGrant({ grantId }: ExternalTokenClaims): Promise<void> {
    if ((await this.#stores.grants.get(grantId)) === null) throw refusal('grant-gone');
  }
}

function isRejected(result: PromiseSettledResult<unknown>): result is PromiseRejectedResult {
  return result.status === 'rejected';
}

/** Nothing stands for a token that was revoked while the stores were asked. */
function requireCaller(known: KnownToken | null): Caller {
  if (known === null) throw refusal('revoked');
  return known.caller;
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

function standsOn(claims: ExternalTokenClaims, revocation: KnownRevocation): boolean {
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
