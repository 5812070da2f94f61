import type { LineWriter } from '../shared/telemetry/line-writer.ts';
import type { Logger } from '../shared/telemetry/logger.ts';
import type { CompiledSigningKeys } from '../shared/snapshot/snapshot.ts';
import { ExternalTokenAuthenticator } from './authentication/external-token-authenticator.ts';
import { ExternalTokens } from './authentication/external-tokens.ts';
import { createClientKeysReader } from './authorization-server/clients/client-keys.ts';
import { createFindClient } from './authorization-server/clients/find-client.ts';
import { createMetadataDocumentReader } from './authorization-server/clients/metadata-document.ts';
import { RefreshTokens } from './authorization-server/grants/refresh-tokens.ts';
import { createOAuthEndpoints } from './authorization-server/oauth-endpoints.ts';
import { OAUTH_WELL_KNOWNS } from './authorization-server/well-knowns.ts';
import type { ServedConfiguration } from './configuration/served-configuration.ts';
import { Sealer } from './crypto/sealer.ts';
import type { SealingKeys } from './crypto/sealing-key.ts';
import { endpointFinder } from './endpoints/find-endpoint.ts';
import { AssertionSigner } from './identity/assertion/assertion.ts';
import { createIdentityEndpoints, type IdentityEndpoints } from './identity/identity-endpoints.ts';
import { createGuardedFetch, type GuardedFetch } from './outbound/guarded-fetch.ts';
import { createFailureAnswers } from './pipeline/answer-failure.ts';
import type { Forwarder } from './pipeline/forward.ts';
import type { Stages } from './pipeline/handle-request.ts';
import { sessionsOfProvider } from './store/sessions-of-provider.ts';
import type { Stores } from './store/stores.ts';
import { AccessLog } from './telemetry/access-log.ts';
import { AuthorizationLog } from './telemetry/authorization-log.ts';

/** What a gateway is made with. */
export interface GatewayOptions {
  /** Allows http on loopback for routes, providers and outbound requests. Never in production. */
  readonly devAllowLoopback: boolean;
  readonly sealingKeys: SealingKeys;
  /** Signs assertions where the settings name no keys. */
  readonly defaultSigningKeys: CompiledSigningKeys;
  readonly stores: Stores;
  readonly logger: Logger;
  /** Takes the authorization log, and the access log. */
  readonly lines: LineWriter;
  /** Writes a line for every request. */
  readonly accessLog?: boolean;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Fetches what clients name by URL. */
  readonly guardedFetch?: GuardedFetch;
}

/** The parts of a gateway that its stages share. */
export interface SharedParts {
  readonly configuration: ServedConfiguration;
  readonly forwarder: Forwarder;
}

/** The stages of requests. Disposing of them ends what they do in the background. */
export interface OpenStages extends Disposable {
  readonly stages: Stages;
}

/** Puts together what the stages of requests need. */
export function createStages(
  options: GatewayOptions,
  { configuration, forwarder }: SharedParts,
): OpenStages {
  const { logger, lines, defaultSigningKeys, now = Date.now } = options;
  const sealer = new Sealer(options.sealingKeys);
  const stores = storesOfProvider(options.stores, configuration);
  const outageGraceSeconds = (): number => configuration.current?.settings.outageGraceSeconds ?? 0;
  const checks = { stores, outageGraceSeconds, now };
  const identity = createIdentityEndpoints({ ...options, ...checks, sealer });
  const externalTokens = new ExternalTokens(sealer);
  const tokenAuthenticator = new ExternalTokenAuthenticator({ ...checks, externalTokens });
  const authorizationServer = authorizationServerOptions(
    { ...options, stores, now },
    { identity, externalTokens, refreshTokens: new RefreshTokens(sealer) },
  );
  const endpoints = { ...identity.endpoints, ...createOAuthEndpoints(authorizationServer) };
  const { sessionCookies, redirectToSignIn } = identity;
  return {
    stages: {
      configuration: () => configuration.required,
      findEndpoint: endpointFinder(endpoints, OAUTH_WELL_KNOWNS),
      authenticators: { 'session-cookie': sessionCookies, 'external-token': tokenAuthenticator },
      authorizationLog: new AuthorizationLog(lines, now),
      assertions: new AssertionSigner({ defaultKeys: defaultSigningKeys, now }),
      random: Math.random,
      forwarder,
      accessLog: options.accessLog === true ? new AccessLog(lines, now) : undefined,
      answerFailure: createFailureAnswers({ logger, redirectToSignIn }),
    },
    [Symbol.dispose]() {
      identity[Symbol.dispose]();
      tokenAuthenticator[Symbol.dispose]();
    },
  };
}

/** The stores, without the sessions of any other identity provider than the configured one. */
function storesOfProvider(stores: Stores, configuration: ServedConfiguration): Stores {
  const provider = (): string | undefined => configuration.current?.identityProvider?.name;
  return { ...stores, sessions: sessionsOfProvider(stores.sessions, provider) };
}

function authorizationServerOptions(
  options: GatewayOptions & { readonly now: () => number },
  parts: {
    readonly identity: IdentityEndpoints;
    readonly externalTokens: ExternalTokens;
    readonly refreshTokens: RefreshTokens;
  },
): Parameters<typeof createOAuthEndpoints>[0] {
  const { stores, logger, devAllowLoopback, now } = options;
  const { identity, externalTokens, refreshTokens } = parts;
  const guardedFetch = options.guardedFetch ?? createGuardedFetch({ devAllowLoopback });
  const readMetadataDocument = createMetadataDocumentReader({
    guardedFetch,
    devAllowLoopback,
    now,
  });
  return {
    stores,
    externalTokens,
    refreshTokens,
    sessionOf: identity.sessionOf,
    logger,
    now,
    findClient: createFindClient({ clients: stores.clients, readMetadataDocument }),
    readClientKeys: createClientKeysReader({ guardedFetch, now }),
    sessionCookies: identity.sessionCookies,
    redirectToSignIn: identity.redirectToSignIn,
  };
}
