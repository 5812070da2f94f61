import type { LineWriter } from '../shared/telemetry/line-writer.ts';
import { createLogger, type Logger } from '../shared/telemetry/logger.ts';
import type { ProcessTracing } from '../shared/telemetry/tracing/settings/process-tracing.ts';
import type { CompiledSigningKeys } from '../shared/snapshot/snapshot.ts';
import { createAccountEndpoint } from './account/account-endpoint.ts';
import { ApplicationAuthenticator } from './authentication/application-authenticator.ts';
import { ApplicationTokenAuthenticator } from './authentication/application-token-authenticator.ts';
import { ApplicationTokens } from './authentication/application-tokens.ts';
import { BearerTokenAuthenticator } from './authentication/bearer-token-authenticator.ts';
import { ExternalTokenAuthenticator } from './authentication/external-token-authenticator.ts';
import { ExternalTokens } from './authentication/external-tokens.ts';
import { createClientKeysReader } from './authorization-server/clients/client-keys.ts';
import { createFindClient } from './authorization-server/clients/find-client.ts';
import { createMetadataDocumentReader } from './authorization-server/clients/metadata-document.ts';
import { RefreshTokens } from './authorization-server/grants/refresh-tokens.ts';
import {
  createOAuthEndpoints,
  type OAuthEndpointOptions,
} from './authorization-server/oauth-endpoints.ts';
import { createFinishAuthorization } from './authorization-server/finish-authorization.ts';
import { OAUTH_WELL_KNOWNS } from './authorization-server/well-knowns.ts';
import type { ServedConfiguration } from './configuration/served-configuration.ts';
import { createConnectEndpoints } from './connect/connect-endpoints.ts';
import { ConnectLinks } from './connect/connect-links.ts';
import { Sealer } from './crypto/sealer.ts';
import type { SealingKeys } from './crypto/sealing-key.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import { endpointFinder } from './endpoints/find-endpoint.ts';
import { PATHS } from './endpoints/paths.ts';
import { AssertionSigner } from './identity/assertion/assertion.ts';
import { ProviderCalls } from './identity-provider/provider-calls.ts';
import { ProviderDiscovery } from './identity-provider/provider-discovery.ts';
import { createIdentityEndpoints, type IdentityEndpoints } from './identity/identity-endpoints.ts';
import { createApplicationEndpoints } from './mcp-applications/application-endpoints.ts';
import { McpSessions } from './mcp-sessions/mcp-sessions.ts';
import { createGuardedFetch, type GuardedFetch } from './outbound/guarded-fetch.ts';
import { OutboundCalls } from './outbound/outbound-calls.ts';
import { createFailureAnswers } from './pipeline/answer-failure.ts';
import type { DecisionLog } from './pipeline/authorize.ts';
import type { Stages } from './pipeline/handle-request.ts';
import type { Identity } from './records/session.ts';
import type { ConnectionLimits } from './server/connection-counter.ts';
import { sessionsOfProvider } from './store/sessions-of-provider.ts';
import type { Stores } from './store/stores.ts';
import { TokenVerifier } from './token-verification/token-verifier.ts';
import { AccessLog } from './telemetry/access-log.ts';
import { AuditLog } from './telemetry/audit-log.ts';
import { AuthorizationLog } from './telemetry/authorization-log.ts';
import type { ProxyMetrics } from './telemetry/metrics/proxy-metrics.ts';
import type { RequestMetrics } from './telemetry/metrics/request-metrics.ts';
import { InternalTokens } from './upstream-oauth/internal-tokens/internal-tokens.ts';
import { createClientMetadataEndpoint } from './upstream-oauth/registration/metadata-document.ts';
import { knowsClient } from './upstream-oauth/protocol/knows-client.ts';
import type { UpstreamAuthReports } from './upstream-oauth/upstream-auth-reports.ts';
import { UpstreamAuthorizations } from './upstream-oauth/upstream-authorizations.ts';

/** Options of a gateway. */
export interface GatewayOptions {
  /** Allows http on loopback for routes, providers and outbound requests. Never in production. */
  readonly devAllowLoopback: boolean;
  readonly sealingKeys: SealingKeys;
  /** Signs assertions where the settings name no keys. */
  readonly defaultSigningKeys: CompiledSigningKeys;
  readonly stores: Stores;
  readonly logger: Logger;
  /** Receives the lines of the authorization log and the access log. */
  readonly lines: LineWriter;
  /** Bounds the connections of clients; absent: no bound. */
  readonly connectionLimits?: ConnectionLimits;
  /** Records what happens to requests; absent: nothing is traced. */
  readonly tracing?: Pick<ProcessTracing, 'apply' | 'tracer'>;
  /** All requests have a line in the access log, whatever its mode in the settings. */
  readonly accessLog?: boolean;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Fetches what clients and upstreams name by URL. */
  readonly guardedFetch?: GuardedFetch;
  /** Receives whether users can connect to the upstreams that need it. */
  readonly upstreamAuthReports?: UpstreamAuthReports;
  /** Those of the process; absent: nobody reads them. */
  readonly metrics?: ProxyMetrics;
}

/** Options of `createStages`. */
export interface StagesOptions extends GatewayOptions {
  readonly configuration: ServedConfiguration;
  readonly forwarder: Stages['forwarder'];
  readonly metrics: ProxyMetrics;
  /** Absent where nothing listens. */
  readonly requiresTls?: () => boolean;
}

/** The stages of requests. Disposing of them ends their work in the background. */
export interface DisposableStages extends Stages, Disposable {
  readonly upstreamAuthorizations: UpstreamAuthorizations;
  readonly internalTokens: InternalTokens;
  readonly audit: AuditLog;
}

/** Makes everything that the stages of requests use. */
export function createStages(options: StagesOptions): DisposableStages {
  const { configuration, logger, lines, defaultSigningKeys, devAllowLoopback, metrics } = options;
  const { now = Date.now } = options;
  const sealer = new Sealer(options.sealingKeys);
  const isOfProvider = providerCheck(configuration);
  const sessions = sessionsOfProvider(options.stores.sessions, isOfProvider);
  const rateLimits = metrics.access.countingLimits(options.stores.rateLimits);
  const stores = { ...options.stores, sessions, rateLimits };
  const outageGraceSeconds = (): number => configuration.current?.settings.outageGraceSeconds ?? 0;
  const audit = new AuditLog(createLogger('audit', lines), (event) =>
    metrics.access.countEvent(event),
  );
  const checks = { stores, outageGraceSeconds, isOfProvider, now };
  const outbound = new OutboundCalls(metrics.outbound);
  const calls = new ProviderCalls(outbound);
  const discovery = new ProviderDiscovery({ devAllowLoopback, now, calls });
  const identity = createIdentityEndpoints({
    ...{ ...options, ...checks, discovery, sealer, audit },
    onRenewal: (outcome) => metrics.access.countRenewal(outcome),
  });
  const externalTokens = new ExternalTokens(sealer);
  const applicationTokens = new ApplicationTokens(sealer);
  const { sessionOf } = identity;
  const applications = new ApplicationTokenAuthenticator({
    ...checks,
    applicationTokens,
    sessionOf,
    isApplication: applicationCheck(configuration),
  });
  const tokenAuthenticator = new ExternalTokenAuthenticator({
    ...{ ...checks, externalTokens, applications },
  });
  const refreshTokens = new RefreshTokens(sealer);
  const guardedFetch = options.guardedFetch ?? createGuardedFetch({ devAllowLoopback });
  const upstreamAuthorizations = new UpstreamAuthorizations({
    guardedFetch,
    outbound,
    registrations: stores.upstreamRegistrations,
    reports: options.upstreamAuthReports ?? NO_REPORTS,
    knowsClient,
    devAllowLoopback,
    logger,
    now,
  });
  const servers = upstreamAuthorizations;
  const tracer = options.tracing?.tracer;
  const internalTokens = new InternalTokens({ ...checks, servers, audit, logger, tracer });
  const connectLinks = new ConnectLinks({ sealer, now });
  const authorizationServer = authorizationServerOptions(
    {
      ...{ ...options, stores, now, externalTokens, refreshTokens, audit },
      documentFetch: outbound.through(guardedFetch, 'client-metadata', 'document'),
      keysFetch: outbound.through(guardedFetch, 'client-metadata', 'keys'),
      ...{ internalTokens, connectLinks },
    },
    identity,
  );
  const { sessionCookies, redirectToSignIn } = identity;
  const endpoints = {
    ...identity.endpoints,
    ...createOAuthEndpoints(authorizationServer),
    ...createConnectEndpoints({
      ...{ ...authorizationServer, connectLinks, internalTokens, devAllowLoopback },
      authorizations: upstreamAuthorizations,
      finishAuthorization: createFinishAuthorization(authorizationServer),
    }),
    [PATHS.upstreamClientMetadata]: createClientMetadataEndpoint(),
    ...createApplicationEndpoints({ applications, stores, connections: internalTokens }),
    [PATHS.account]: createAccountEndpoint({
      ...{ stores, sessionCookies, connectLinks, audit },
      connections: internalTokens,
    }),
  };
  metrics.requests.nameEndpoints(pathsOf(endpoints));
  return {
    configuration: () => configuration.required,
    requiresTls: options.requiresTls ?? (() => false),
    findEndpoint: endpointFinder(endpoints, OAUTH_WELL_KNOWNS),
    authenticators: {
      'session-cookie': new ApplicationAuthenticator({
        ...{ sessionCookies, applicationTokens, stores, now },
      }),
      'external-token': tokenAuthenticator,
      'bearer-token': new BearerTokenAuthenticator({
        verifier: new TokenVerifier({ discovery, devAllowLoopback, now }),
        externalTokens: tokenAuthenticator,
        now,
      }),
    },
    authorizationLog: countingDecisions(new AuthorizationLog(lines, now), metrics.requests),
    metrics: metrics.requests,
    assertions: new AssertionSigner({ defaultKeys: defaultSigningKeys, now, random: Math.random }),
    mcpSessions: new McpSessions(sealer),
    upstreamAuthorizations,
    internalTokens,
    audit,
    connectLinks,
    random: Math.random,
    now,
    tracer: options.tracing?.tracer,
    forwarder: options.forwarder,
    accessLog: new AccessLog(lines, { isForced: options.accessLog === true, now }),
    logger,
    answerFailure: createFailureAnswers({ logger, redirectToSignIn }),
    [Symbol.dispose]() {
      identity[Symbol.dispose]();
      tokenAuthenticator[Symbol.dispose]();
      applications[Symbol.dispose]();
      internalTokens[Symbol.dispose]();
    },
  };
}

/** Returns the path of each endpoint, for metrics. */
function pathsOf(endpoints: Readonly<Record<string, Endpoint>>): ReadonlyMap<Endpoint, string> {
  const paths = Object.entries(endpoints).map(([path, endpoint]) => [endpoint, path] as const);
  return new Map([...paths, [OAUTH_WELL_KNOWNS.endpoint, '/.well-known/']]);
}

/** Returns the log of decisions, which counts them too. */
function countingDecisions(log: AuthorizationLog, metrics: RequestMetrics): DecisionLog {
  return {
    write(checked, decision, fields) {
      metrics.countDecision(checked.route, decision);
      log.write(checked, decision, fields);
    },
  };
}

const NO_REPORTS: UpstreamAuthReports = { report: () => undefined };

/** Makes the check whether a user is of one of the configured identity providers. */
function providerCheck(configuration: ServedConfiguration): (identity: Identity) => boolean {
  return (identity) => configuration.current?.identityProviders.ofUser(identity) !== undefined;
}

function applicationCheck(configuration: ServedConfiguration): (origin: string) => boolean {
  return (origin) => {
    const host = configuration.current?.routes.findHost(new URL(origin).host);
    return host?.hasApplication === true;
  };
}

function authorizationServerOptions(
  options: GatewayOptions &
    Pick<
      OAuthEndpointOptions,
      'externalTokens' | 'refreshTokens' | 'now' | 'audit' | 'internalTokens' | 'connectLinks'
    > & {
      readonly documentFetch: GuardedFetch;
      readonly keysFetch: GuardedFetch;
    },
  identity: IdentityEndpoints,
): OAuthEndpointOptions {
  const { stores, externalTokens, refreshTokens, devAllowLoopback, now, audit, logger } = options;
  const { documentFetch, keysFetch, internalTokens, connectLinks } = options;
  const readMetadataDocument = createMetadataDocumentReader({
    guardedFetch: documentFetch,
    devAllowLoopback,
    now,
  });
  return {
    stores,
    externalTokens,
    refreshTokens,
    sessionOf: identity.sessionOf,
    ...{ internalTokens, connectLinks, audit, logger, now },
    findClient: createFindClient({ clients: stores.clients, readMetadataDocument }),
    readClientKeys: createClientKeysReader({ guardedFetch: keysFetch, now }),
    sessionCookies: identity.sessionCookies,
    redirectToSignIn: identity.redirectToSignIn,
  };
}
