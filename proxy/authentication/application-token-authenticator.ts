import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { TokenRequiredError } from '../errors/authentication-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Identity, Session } from '../records/session.ts';
import type { Stores } from '../store/stores.ts';
import type { AuthenticationContext } from './authenticator.ts';
import { haveApplicationTokensEnded } from './applications-of-session.ts';
import type { ApplicationTokenClaims, ApplicationTokens } from './application-tokens.ts';
import { bearerToken } from './bearer-token.ts';
import type { SignedInCaller } from './caller.ts';
import { CheckCache, type KnownRevocation } from './check-cache.ts';

const MAX_TOKENS = 10_000;

/** Options of an `ApplicationTokenAuthenticator`. */
export interface ApplicationTokenAuthenticatorOptions {
  readonly applicationTokens: ApplicationTokens;
  readonly stores: Pick<Stores, 'revokedTokens' | 'revocations'>;
  /** Returns the session of a sign-in, renewed if it has expired; null if there is none any more. */
  readonly sessionOf: (
    signInId: string,
    current: Pick<Configuration, 'settings' | 'identityProviders'>,
  ) => Promise<Session | null>;
  /** Returns whether an application is served at an origin now. */
  readonly isApplication: (origin: string) => boolean;
  /** Returns whether a user is of an identity provider that is configured now. */
  readonly isOfProvider: (identity: Identity) => boolean;
  /** How long the last good check stays valid while the stores are unavailable. */
  readonly outageGraceSeconds: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface KnownToken {
  readonly claims: ApplicationTokenClaims;
  readonly caller: SignedInCaller;
}

/** A text that is an external token of an application. */
export interface OpenedApplicationToken {
  readonly token: string;
  readonly claims: ApplicationTokenClaims;
}

/** The request that sent a token. */
interface ApplicationTokenUse extends Pick<AuthenticationContext, 'configuration'> {
  readonly trace?: Trace | undefined;
}

/**
 * Authenticates callers by the external token that the backend of an application got, and perhaps handed on.
 *
 * The token follows the sign-in of its user: it outlives a session that expires, if the identity provider still
 * confirms the user, and it ends when the user signs out, or the sign-in ends, or the application does. A token that
 * was checked within the last 5 seconds costs no I/O and no promise.
 */
export class ApplicationTokenAuthenticator implements Disposable {
  readonly #options: ApplicationTokenAuthenticatorOptions;
  /** By the token itself. */
  readonly #known: CheckCache<KnownToken>;

  constructor(options: ApplicationTokenAuthenticatorOptions) {
    const { stores, isOfProvider, outageGraceSeconds, now } = options;
    this.#options = options;
    this.#known = new CheckCache<KnownToken>({
      revocations: stores.revocations,
      maxEntries: MAX_TOKENS,
      dependsOn,
      isCurrent: ({ caller }) => isOfProvider(caller.session.identity),
      expiryOf: ({ caller }) => caller.session.expiresAt,
      outageGraceSeconds,
      now,
    });
  }

  [Symbol.dispose](): void {
    this.#known[Symbol.dispose]();
  }

  /** Returns what a token says; undefined for every text that is not a token of an application. */
  open(token: string): OpenedApplicationToken | undefined {
    const claims =
      this.#known.find(token)?.value.claims ?? this.#options.applicationTokens.open(token);
    return claims === null ? undefined : { token, claims };
  }

  /**
   * Authenticates a request to an endpoint that the backend of an application calls, at the application's own
   * origin. Throws or rejects with a `TokenRequiredError`.
   */
  async authenticate(
    request: GatewayRequest,
    context: AuthenticationContext,
  ): Promise<SignedInCaller> {
    const token = bearerToken(request, (sent) => this.#known.find(sent) !== undefined);
    const opened = this.open(token);
    if (opened === undefined) throw refusal('malformed');
    // Attack: an application uses the token of another one, to learn or undo what its user did there.
    if (opened.claims.origin !== context.origin) throw refusal('audience-mismatch');
    return this.callerOf(opened, { ...context, trace: request.trace });
  }

  /** Returns the user of a token. Throws or rejects with a `TokenRequiredError` if it does not count now. */
  callerOf(
    { token, claims }: OpenedApplicationToken,
    { configuration, trace }: ApplicationTokenUse,
  ): SignedInCaller | Promise<SignedInCaller> {
    if (claims.expiresAt <= this.#options.now()) throw refusal('expired');
    if (claims.gatewayId !== configuration.settings.gatewayId) throw refusal('audience-mismatch');
    const known = this.#known.get(token, () =>
      this.#check({ token, claims }, { configuration, trace }),
    );
    return known instanceof Promise ? known.then(requireCaller) : requireCaller(known);
  }

  async #check(
    { token, claims }: OpenedApplicationToken,
    { configuration, trace }: ApplicationTokenUse,
  ): Promise<KnownToken> {
    const isFirstUse = this.#known.find(token) === undefined;
    const { stores, sessionOf, isApplication } = this.#options;
    // An operator who takes an application away, or its namespace, means its tokens too.
    if (!isApplication(claims.origin)) throw refusal('audience-mismatch');
    // First: nobody asks the identity provider to renew a session for a token that was revoked.
    if (await haveApplicationTokensEnded(claims.sessionId, stores.revokedTokens)) {
      throw refusal('revoked');
    }
    const session = await sessionOf(claims.signInId, configuration);
    if (session === null) throw refusal('session-gone');
    const { signInTrace } = session;
    if (isFirstUse && signInTrace !== undefined) trace?.span?.link(signInTrace);
    return { claims, caller: { kind: 'user', session, via: 'external-token' } };
  }
}

/** A token without a caller was revoked while it was checked. */
function requireCaller(known: KnownToken | null): SignedInCaller {
  if (known === null) throw refusal('revoked');
  return known.caller;
}

function dependsOn({ claims, caller }: KnownToken, revocation: KnownRevocation): boolean {
  if (revocation.kind === 'browser') return claims.sessionId === revocation.sessionId;
  if (revocation.kind !== 'session') return false;
  return [claims.sessionId, caller.session.id].includes(revocation.sessionId);
}

type Refusal = 'malformed' | 'expired' | 'audience-mismatch' | 'revoked' | 'session-gone';

function refusal(reason: Refusal): TokenRequiredError {
  return new TokenRequiredError(reason, { tokenWasSent: true });
}
