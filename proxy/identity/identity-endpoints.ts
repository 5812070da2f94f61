import type { CompiledSigningKeys } from '../../shared/snapshot/snapshot.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { Sealer } from '../crypto/sealer.ts';
import type { Endpoint, EndpointContext } from '../endpoints/endpoint.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { json } from '../http/responses.ts';
import { SessionCookieAuthenticator } from '../authentication/session-cookie-authenticator.ts';
import { callback } from './sign-in/callback.ts';
import { ProviderDiscovery } from './provider/provider-discovery.ts';
import { redirectToSignIn } from './sign-in/redirect-to-sign-in.ts';
import { SessionRenewal, type SessionOfSignIn } from './session/session-renewal.ts';
import { signIn } from './sign-in/sign-in.ts';
import { SIGN_IN_PATHS } from '../endpoints/sign-in-paths.ts';
import type { SignInServices } from './sign-in/sign-in-services.ts';
import { signOut } from './sign-in/sign-out.ts';
import { jwksDocument } from './assertion/signing-keys.ts';

/** How long upstreams may go without asking for keys: publish a key that long before it signs. */
const KEYS_MAX_AGE_SECONDS = 300;

export interface IdentityDependencies {
  readonly stores: SignInServices['stores'];
  readonly sealer: Sealer;
  readonly logger: Logger;
  /** Accepts identity providers on http, on loopback. */
  readonly devAllowLoopback: boolean;
  /** Published where the settings name no keys: those that sign then. */
  readonly defaultSigningKeys: CompiledSigningKeys;
  /** How long the last good check of a session counts while the stores are away. */
  readonly outageGraceSeconds: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Sign-in of users, as the rest of the gateway sees it. */
export interface IdentityEndpoints extends Disposable {
  /** By path. They are on every host. */
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  readonly sessionCookies: SessionCookieAuthenticator;
  readonly sessionOf: SessionOfSignIn;
  /** Sends a browser to sign in, and back to a path of the host it is at. */
  readonly redirectToSignIn: (
    context: Pick<EndpointContext, 'request' | 'configuration' | 'origin'>,
    returnPath: string,
  ) => GatewayResponse;
}

/** Sign-in over several hosts, sign-out, and the keys of the identity assertion. */
export function createIdentityEndpoints({
  stores,
  sealer,
  logger,
  devAllowLoopback,
  defaultSigningKeys,
  outageGraceSeconds,
  now,
}: IdentityDependencies): IdentityEndpoints {
  const sessionCookies = new SessionCookieAuthenticator({ stores, now, outageGraceSeconds });
  const discovery = new ProviderDiscovery({ devAllowLoopback, now });
  const services = { stores, sealer, logger, now, sessionCookies, discovery };
  const renewal = new SessionRenewal(services);
  const page = { audience: 'page', crossOrigin: false } as const;
  return {
    endpoints: {
      [SIGN_IN_PATHS.signIn]: {
        ...page,
        methods: ['GET'],
        handle: (context) => signIn(context, services),
      },
      [SIGN_IN_PATHS.callback]: {
        ...page,
        methods: ['GET'],
        handle: (context) => callback(context, services),
      },
      [SIGN_IN_PATHS.signOut]: {
        ...page,
        methods: ['GET', 'POST'],
        handle: (context) => signOut(context, services),
      },
      [SIGN_IN_PATHS.keys]: {
        audience: 'text',
        crossOrigin: true,
        methods: ['GET'],
        handle: (context) => Promise.resolve(keys(context, defaultSigningKeys)),
      },
    },
    sessionCookies,
    sessionOf: (signInId, current) => renewal.sessionOf(signInId, current),
    redirectToSignIn: (context, returnPath) => redirectToSignIn(context, returnPath, services),
    [Symbol.dispose]: () => sessionCookies[Symbol.dispose](),
  };
}

function keys(
  { configuration }: EndpointContext,
  defaultSigningKeys: CompiledSigningKeys,
): GatewayResponse {
  const document = jwksDocument(configuration.signingKeys ?? defaultSigningKeys);
  const cacheControl = `public, max-age=${String(KEYS_MAX_AGE_SECONDS)}`;
  return json(200, document, { 'cache-control': cacheControl });
}
