import type { CompiledSigningKeys } from '../../shared/snapshot/snapshot.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { Sealer } from '../crypto/sealer.ts';
import type { Identity } from '../records/session.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { SessionCookieAuthenticator } from '../authentication/session-cookie-authenticator.ts';
import { createCallbackEndpoint } from './sign-in/callback.ts';
import type { ProviderDiscovery } from '../identity-provider/provider-discovery.ts';
import { redirectToSignIn, type RedirectToSignIn } from './sign-in/redirect-to-sign-in.ts';
import { LiveSessions, type SessionOfSignIn } from './session/live-sessions.ts';
import { createSignInEndpoint } from './sign-in/sign-in.ts';
import { PATHS } from '../endpoints/paths.ts';
import type { SignInOptions } from './sign-in/sign-in-options.ts';
import type { RenewalOutcome } from '../telemetry/metrics/access-metrics.ts';
import type { AuditLog } from '../telemetry/audit-log.ts';
import { createSignOutEndpoint } from './sign-in/sign-out.ts';
import { createJwksEndpoint } from './assertion/jwks-endpoint.ts';

/** Options of `createIdentityEndpoints`. */
export interface IdentityOptions {
  readonly stores: SignInOptions['stores'];
  readonly sealer: Sealer;
  readonly audit: AuditLog;
  readonly logger: Logger;
  readonly discovery: ProviderDiscovery;
  /** Sign assertions, and are published, if the settings name no keys. */
  readonly defaultSigningKeys: CompiledSigningKeys;
  /** Returns whether a user is of an identity provider that is configured now. */
  readonly isOfProvider: (identity: Identity) => boolean;
  /** How long the last good check of a session stays valid while the stores are unavailable. */
  readonly outageGraceSeconds: () => number;
  /** Gets the outcome of every renewal of a session, for metrics. */
  readonly onRenewal?: ((outcome: RenewalOutcome) => void) | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The endpoints of sign-in, and the functions that the rest of the gateway uses. */
export interface IdentityEndpoints extends Disposable {
  /** By path; every host has them. */
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  readonly sessionCookies: SessionCookieAuthenticator;
  readonly sessionOf: SessionOfSignIn;
  readonly redirectToSignIn: RedirectToSignIn;
}

/** Makes sign-in over several hosts, sign-out, and the endpoint of the assertion keys. */
export function createIdentityEndpoints({
  stores,
  sealer,
  audit,
  logger,
  discovery,
  defaultSigningKeys,
  isOfProvider,
  outageGraceSeconds,
  onRenewal,
  now,
}: IdentityOptions): IdentityEndpoints {
  const checks = { stores, now, isOfProvider, outageGraceSeconds };
  const sessionCookies = new SessionCookieAuthenticator(checks);
  const options = { stores, sealer, audit, logger, now, sessionCookies, discovery };
  const renewal = new LiveSessions({ ...options, onRenewal });
  return {
    endpoints: {
      [PATHS.signIn]: createSignInEndpoint(options),
      [PATHS.callback]: createCallbackEndpoint(options),
      [PATHS.signOut]: createSignOutEndpoint(options),
      [PATHS.jwks]: createJwksEndpoint({ defaultSigningKeys }),
    },
    sessionCookies,
    sessionOf: (signInId, current) => renewal.sessionOf(signInId, current),
    redirectToSignIn: (context, wanted) => redirectToSignIn(context, wanted, options),
    [Symbol.dispose]: () => sessionCookies[Symbol.dispose](),
  };
}
