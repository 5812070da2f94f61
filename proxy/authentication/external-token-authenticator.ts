import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import { isUserOf } from '../configuration/identity-providers.ts';
import { resourceIdentifier } from '../configuration/resource-identifier.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import { TokenRequiredError } from '../errors/authentication-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Grant } from '../records/grant.ts';
import type { Identity, Session } from '../records/session.ts';
import type { Stores } from '../store/stores.ts';
import type { ApplicationTokenAuthenticator } from './application-token-authenticator.ts';
import type { AuthenticationContext, Authenticator } from './authenticator.ts';
import { bearerToken } from './bearer-token.ts';
import type { SignedInCaller } from './caller.ts';
import { CheckCache, type KnownRevocation, type LastCheck } from './check-cache.ts';
import type { ExternalTokenClaims, ExternalTokens } from './external-tokens.ts';

const MAX_TOKENS = 10_000;

/** The use for which a token must have been issued. */
export interface ExternalTokenUse {
  /** Resource identifier of the route that is called. */
  readonly resource: string;
  readonly gatewayId: string;
  /** Where the users of the route sign in; undefined if there is no such provider. */
  readonly provider: CompiledIdentityProvider | undefined;
}

/** Options of an `ExternalTokenAuthenticator`. */
export interface ExternalTokenAuthenticatorOptions {
  readonly externalTokens: ExternalTokens;
  /** Authenticates the tokens of applications, which are good for every MCP server route. */
  readonly applications: Pick<ApplicationTokenAuthenticator, 'open' | 'callerOf'>;
  readonly stores: Pick<Stores, 'sessions' | 'grants' | 'revokedTokens' | 'revocations'>;
  /** Returns whether a user is of an identity provider that is configured now. */
  readonly isOfProvider: (identity: Identity) => boolean;
  /** How long the last good check stays valid while the stores are unavailable. */
  readonly outageGraceSeconds: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface KnownToken {
  readonly claims: ExternalTokenClaims;
  readonly caller: SignedInCaller;
}

/**
 * Authenticates callers of MCP server routes by their external token.
 *
 * A token that was checked within the last 5 seconds costs no I/O and no promise. Expiry and audience
 * are checked every time, and a revocation takes effect as soon as it is received.
 */
export class ExternalTokenAuthenticator implements Authenticator, Disposable {
  readonly #externalTokens: ExternalTokens;
  readonly #applications: ExternalTokenAuthenticatorOptions['applications'];
  readonly #stores: ExternalTokenAuthenticatorOptions['stores'];
  readonly #now: () => number;
  /** By the token itself. */
  readonly #known: CheckCache<KnownToken>;

  constructor({
    externalTokens,
    applications,
    stores,
    isOfProvider,
    outageGraceSeconds,
    now,
  }: ExternalTokenAuthenticatorOptions) {
    this.#externalTokens = externalTokens;
    this.#applications = applications;
    this.#stores = stores;
    this.#now = now;
    this.#known = new CheckCache<KnownToken>({
      revocations: stores.revocations,
      maxEntries: MAX_TOKENS,
      dependsOn: ({ claims }, revocation) => dependsOn(claims, revocation),
      isCurrent: ({ caller }) => isOfProvider(caller.session.identity),
      expiryOf: ({ caller }) => caller.session.expiresAt,
      outageGraceSeconds,
      now,
    });
  }

  [Symbol.dispose](): void {
    this.#known[Symbol.dispose]();
  }

  /** See `Authenticator`. Throws or rejects with a `TokenRequiredError`. */
  authenticate(
    request: GatewayRequest,
    { compiled }: GatewayRoute,
    { origin, configuration }: AuthenticationContext,
  ): SignedInCaller | Promise<SignedInCaller> {
    let last = undefined as LastCheck<KnownToken> | undefined;
    const token = bearerToken(request, (sent) => (last = this.#known.find(sent)) !== undefined);
    const provider = configuration.identityProviders.ofRoute(compiled);
    const ofApplication = last === undefined ? this.#applications.open(token) : undefined;
    if (ofApplication !== undefined) {
      const { trace } = request;
      const caller = this.#applications.callerOf(ofApplication, { configuration, trace });
      return caller instanceof Promise
        ? caller.then((found) => requireUserOf(provider, found))
        : requireUserOf(provider, caller);
    }
    const { gatewayId } = configuration.settings;
    const use = { resource: resourceIdentifier(compiled, origin), gatewayId, provider };
    return this.#callerOf(token, last, use, request.trace);
  }

  /**
   * Returns the user a token was issued for. Throws or rejects with a `TokenRequiredError` if it is
   * not valid for this use.
   */
  callerOf(token: string, use: ExternalTokenUse): SignedInCaller | Promise<SignedInCaller> {
    return this.#callerOf(token, this.#known.find(token), use);
  }

  #callerOf(
    token: string,
    last: LastCheck<KnownToken> | undefined,
    use: ExternalTokenUse,
    trace?: Trace,
  ): SignedInCaller | Promise<SignedInCaller> {
    const claims = last?.value.claims ?? this.#open(token);
    const now = this.#now();
    refuseMisuse(claims, use, now);
    const known = this.#known.getAfter(
      last,
      token,
      () => this.#check(claims, last === undefined ? trace : undefined),
      now,
    );
    return known instanceof Promise
      ? known.then((checked) => requireUserOf(use.provider, checked?.caller))
      : requireUserOf(use.provider, known?.caller);
  }

  /** Refuses a token that was not sealed with one of our keys before any store is asked. */
  #open(token: string): ExternalTokenClaims {
    const claims = this.#externalTokens.open(token);
    if (claims !== null) return claims;
    const isOfUnknownKey = this.#externalTokens.isOfUnknownKey(token);
    throw refusal(isOfUnknownKey ? 'unknown-sealing-key' : 'malformed');
  }

  /** `trace` is that of the first request with the token that this process gets. */
  async #check(claims: ExternalTokenClaims, trace: Trace | undefined): Promise<KnownToken> {
    const session = this.#liveSession(claims);
    const grant = this.#liveGrant(claims);
    const answers = [session, this.#refuseRevoked(claims), grant];
    const failures = (await Promise.allSettled<unknown>(answers)).filter(isRejected);
    // If one check refuses the token, failures of the others do not matter.
    const failure = failures.find(({ reason }) => reason instanceof TokenRequiredError);
    if (failure !== undefined) throw failure.reason;
    await Promise.all(answers);
    const { signInTrace } = await grant;
    if (signInTrace !== undefined) trace?.span?.link(signInTrace);
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

  async #liveGrant({ grantId }: ExternalTokenClaims): Promise<Grant> {
    const grant = await this.#stores.grants.get(grantId);
    if (grant === null) throw refusal('grant-gone');
    return grant;
  }
}

function isRejected(result: PromiseSettledResult<unknown>): result is PromiseRejectedResult {
  return result.status === 'rejected';
}

/**
 * Returns the caller, who must be a user of the provider that the route names now. A token without a
 * caller was revoked while it was checked.
 */
function requireUserOf(
  provider: CompiledIdentityProvider | undefined,
  caller: SignedInCaller | undefined,
): SignedInCaller {
  if (caller === undefined) throw refusal('revoked');
  if (!isUserOf(provider, caller.session.identity)) throw refusal('other-provider');
  return caller;
}

/** Checks the token's own claims, without I/O. */
function refuseMisuse(
  { gatewayId, audience, expiresAt }: ExternalTokenClaims,
  use: ExternalTokenUse,
  now: number,
): void {
  if (expiresAt <= now) throw refusal('expired');
  // A token for one route is not valid on another (RFC 8707; MCP: token audience binding).
  if (gatewayId !== use.gatewayId || audience !== use.resource) throw refusal('audience-mismatch');
}

function dependsOn(claims: ExternalTokenClaims, revocation: KnownRevocation): boolean {
  switch (revocation.kind) {
    case 'session':
      return claims.sessionId === revocation.sessionId;
    case 'grant':
      return claims.grantId === revocation.grantId;
    case 'token':
      return claims.tokenId === revocation.tokenId;
    case 'browser':
      // Signing out of the browser leaves the user's MCP clients connected.
      return false;
  }
}

type Refusal =
  | 'malformed'
  | 'unknown-sealing-key'
  | 'expired'
  | 'audience-mismatch'
  | 'revoked'
  | 'session-gone'
  | 'other-provider'
  | 'grant-gone';

function refusal(reason: Refusal): TokenRequiredError {
  return new TokenRequiredError(reason, { tokenWasSent: true });
}
