import { BoundedMap } from '../cache/bounded-map.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import { SignInRequiredError } from '../errors/authentication-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Session } from '../records/session.ts';
import type { Stores } from '../store/stores.ts';
import type { ApplicationTokens } from './application-tokens.ts';
import {
  isNearEnd,
  secondsOfTokensOf,
  timesBeyondSession,
  timesOfRest,
  timesWithin,
  type ApplicationTokenTimes,
} from './application-token-times.ts';
import type { AuthenticationContext, Authenticator } from './authenticator.ts';
import type { SignedInCaller } from './caller.ts';
import type { SessionCookieAuthenticator } from './session-cookie-authenticator.ts';

/** Pairs of a session and an application that were used within the last minutes. */
const MAX_TOKENS = 20_000;

/** Options of an `ApplicationAuthenticator`. */
export interface ApplicationAuthenticatorOptions {
  readonly sessionCookies: Pick<SessionCookieAuthenticator, 'authenticate'>;
  readonly applicationTokens: ApplicationTokens;
  readonly stores: Pick<Stores, 'signIns'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface IssuedToken extends ApplicationTokenTimes {
  readonly token: string;
  readonly origin: string;
  readonly gatewayId: string;
}

/**
 * Authenticates browsers by their session cookie. On `mcp.client` routes it also gives the caller the external token
 * for the backend (specification: MCP-enabled application), which has at least ten minutes left.
 *
 * One token serves the requests of a session at an origin until it has less than that left, so most requests cost
 * no promise and no cryptography.
 */
export class ApplicationAuthenticator implements Authenticator {
  readonly #options: ApplicationAuthenticatorOptions;
  /** By origin and session. */
  readonly #issued = new BoundedMap<string, IssuedToken>(MAX_TOKENS);
  /** The last one of each caller: nearly every session uses one application at a time. */
  readonly #latest = new WeakMap<SignedInCaller, { issued: IssuedToken; caller: SignedInCaller }>();

  constructor(options: ApplicationAuthenticatorOptions) {
    this.#options = options;
  }

  /**
   * See `Authenticator`. Throws or rejects with a `SignInRequiredError`; also if the session is about to end, and
   * the identity provider gave nothing to renew it with.
   */
  authenticate(
    request: GatewayRequest,
    route: GatewayRoute,
    context: AuthenticationContext,
  ): SignedInCaller | Promise<SignedInCaller> {
    const caller = this.#options.sessionCookies.authenticate(request, route, context);
    if (route.compiled.mcpClient !== true) return caller;
    return caller instanceof Promise
      ? caller.then((found) => this.#withToken(found, context))
      : this.#withToken(caller, context);
  }

  #withToken(
    caller: SignedInCaller,
    context: AuthenticationContext,
  ): SignedInCaller | Promise<SignedInCaller> {
    const now = this.#options.now();
    const latest = this.#latest.get(caller);
    if (latest !== undefined && isUsable(latest.issued, context, now)) return latest.caller;
    const known = this.#issued.get(nameOf(caller.session, context));
    if (known !== undefined && isUsable(known, context, now)) return this.#hold(caller, known);
    const { settings } = context.configuration;
    const times = timesWithin(caller.session, settings, now);
    if (times !== undefined) return this.#issue(caller, context, times);
    return this.#timesNearEnd(caller.session).then((found) => this.#issue(caller, context, found));
  }

  /** A token may outlive a session that can be renewed when the token is used. */
  async #timesNearEnd(session: Session): Promise<ApplicationTokenTimes> {
    const { stores, now } = this.#options;
    const found = await stores.signIns.get(session.signInId);
    if (found === null) throw new SignInRequiredError('the sign-in has ended');
    const { refreshToken, accessToken } = found.signIn;
    if (refreshToken !== undefined || accessToken !== undefined) {
      await stores.signIns.extend(session.signInId, secondsOfTokensOf(session, now()));
      return timesBeyondSession(now());
    }
    if (isNearEnd(session, now())) {
      throw new SignInRequiredError('the session is about to end, and cannot be renewed');
    }
    return timesOfRest(session, now());
  }

  #issue(
    caller: SignedInCaller,
    context: AuthenticationContext,
    times: ApplicationTokenTimes,
  ): SignedInCaller {
    const { origin, configuration } = context;
    const { gatewayId } = configuration.settings;
    const { id: sessionId, signInId } = caller.session;
    const token = this.#options.applicationTokens.issue({
      ...{ gatewayId, origin, sessionId, signInId },
      ...{ issuedAt: this.#options.now(), expiresAt: times.expiresAt },
    });
    const issued = { ...times, token, origin, gatewayId };
    this.#issued.set(nameOf(caller.session, context), issued);
    return this.#hold(caller, issued);
  }

  #hold(caller: SignedInCaller, issued: IssuedToken): SignedInCaller {
    const withToken = { ...caller, applicationToken: issued.token };
    this.#latest.set(caller, { issued, caller: withToken });
    return withToken;
  }
}

function isUsable(
  { origin, gatewayId, usableUntil }: IssuedToken,
  context: AuthenticationContext,
  now: number,
): boolean {
  if (origin !== context.origin || now > usableUntil) return false;
  return gatewayId === context.configuration.settings.gatewayId;
}

/** Origins have no space. */
function nameOf(session: Session, { origin }: AuthenticationContext): string {
  return `${origin} ${session.id}`;
}
