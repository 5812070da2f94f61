import { randomBytes } from 'node:crypto';

import { Sealer } from '../../../proxy/crypto/sealer.ts';
import { randomToken } from '../../../proxy/crypto/tokens.ts';
import type { UserReference } from '../../../proxy/records/user-key.ts';
import { createGuardedFetch } from '../../../proxy/outbound/guarded-fetch.ts';
import { createRedisStores } from '../../../proxy/store/redis/stores/redis-stores.ts';
import type { Stores } from '../../../proxy/store/stores.ts';
import { AuditLog } from '../../../proxy/telemetry/audit-log.ts';
import { bindingOf } from '../../../proxy/upstream-oauth/binding.ts';
import { InternalTokens } from '../../../proxy/upstream-oauth/internal-tokens/internal-tokens.ts';
import { upstreamAuthorizationUrl } from '../../../proxy/upstream-oauth/protocol/authorization-url.ts';
import { knowsClient } from '../../../proxy/upstream-oauth/protocol/knows-client.ts';
import { redeemCode } from '../../../proxy/upstream-oauth/protocol/token-requests.ts';
import { UpstreamAuthorizations } from '../../../proxy/upstream-oauth/upstream-authorizations.ts';
import type { CompiledUpstreamOAuth } from '../../../shared/snapshot/compiled-upstream-oauth.ts';
import { originOf } from '../../../shared/snapshot/origin.ts';
import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import { BrowserJar } from '../browser-jar.ts';
import { compiledSettings } from '../compiled-settings.ts';
import { connected } from '../redis/connected.ts';
import { createRecordingLogger, type RecordingLogger } from '../redis/recording-logger.ts';
import { startRedis, type TestRedis } from '../redis/start-redis.ts';
import { walkThroughForms } from '../walk-through-forms.ts';
import type { AuthorizationServerFeatures } from './authorization-server-configuration.ts';
import {
  startUpstreamAuthorizationServer,
  type UpstreamAuthorizationServer,
} from './authorization-server.ts';
import { aCaller, aConnectableRoute } from './internal-tokens-fixture.ts';
import { startProtectedMcpServer } from './protected-mcp-server.ts';

const KEY_BYTES = 32;

/** What one proxy has. */
export interface TokensOfProxy {
  readonly tokens: InternalTokens;
  readonly stores: Stores;
  readonly authorizations: UpstreamAuthorizations;
}

/** Two proxies on one Redis, in front of an MCP server with a real authorization server of its own. */
export interface InternalTokensWorld extends AsyncDisposable {
  readonly redis: TestRedis;
  readonly authorizationServer: UpstreamAuthorizationServer;
  readonly proxies: readonly [TokensOfProxy, TokensOfProxy];
  readonly route: CompiledRoute;
  readonly context: Parameters<InternalTokens['tokenFor']>[2];
  readonly logger: RecordingLogger;
  /** Takes a user through the authorization server, and keeps the tokens at the first proxy. */
  connect(login?: string): Promise<void>;
  /** Moves the clocks of the proxies and of Redis, but not that of the authorization server. */
  advance(seconds: number): void;
}

/** Starts a world. Everything is discovered, unless `oauth` gives it. */
export async function startInternalTokensWorld(
  features: AuthorizationServerFeatures = {},
  oauth: Partial<CompiledUpstreamOAuth> = {},
): Promise<InternalTokensWorld> {
  let offset = 0;
  await using opening = new AsyncDisposableStack();
  const redis = opening.use(await startRedis());
  const authorizationServer = opening.use(await startUpstreamAuthorizationServer(features));
  const { issuer, verify } = authorizationServer;
  const server = opening.use(
    await startProtectedMcpServer({ authorizationServers: [issuer], verify }),
  );
  const route = aConnectableRoute(oauth, { upstream: server.origin });
  const settings = compiledSettings({ allowedAsMetadataDomains: ['localhost'] });
  const context = { configuration: { settings } };
  const logger = createRecordingLogger();
  const now = (): number => Date.now() + offset;

  const sealer = new Sealer([{ secret: randomBytes(KEY_BYTES) }]);

  const start = async (): Promise<TokensOfProxy> => {
    const { connection } = opening.use(await connected(redis.url));
    const stores = createRedisStores(connection, sealer);
    const authorizations = new UpstreamAuthorizations({
      guardedFetch: createGuardedFetch({ devAllowLoopback: true }),
      knowsClient,
      registrations: stores.upstreamRegistrations,
      reports: { report: () => undefined },
      devAllowLoopback: true,
      logger,
      now,
    });
    const tokens = opening.use(
      new InternalTokens({
        ...{ stores, servers: authorizations, logger, now },
        audit: new AuditLog(logger),
        outageGraceSeconds: () => 60,
      }),
    );
    return { tokens, stores, authorizations };
  };
  const first = await start();
  const second = await start();
  const opened = opening.move();

  return {
    ...{ redis, authorizationServer, route, context, logger, proxies: [first, second] },
    connect: (login = 'alice') =>
      connectAt(first, { route, context, user: aCaller(login).session.identity }),
    advance: (seconds) => {
      offset += seconds * 1000;
      redis.advance(seconds);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

interface Connection extends Pick<InternalTokensWorld, 'route' | 'context'> {
  readonly user: UserReference;
}

async function connectAt(
  { tokens, authorizations }: TokensOfProxy,
  { route, context, user }: Connection,
): Promise<void> {
  const upstreamOAuth = route.mcpServer?.upstreamOAuth;
  if (upstreamOAuth === undefined) throw new Error('the route has upstream OAuth');
  const origin = originOf(route);
  const redirectUri = `${origin}/.gateway/mcp/client/oauth/callback`;
  const authorization = await authorizations.forConnection(route, origin, context.configuration);
  const { issuer, client, resource, scopes } = authorization;
  const started = { state: randomToken(), codeVerifier: randomToken(), redirectUri };
  const url = await upstreamAuthorizationUrl(authorization, upstreamOAuth, started);
  const { headers } = await walkThroughForms(new BrowserJar(), url.href, {
    loginAt: () => user.subject,
    stopAt: (next) => next.startsWith(redirectUri),
  });
  const response = new URL(headers.location ?? '').searchParams;
  const sentResource = upstreamOAuth.sendsResource ? resource : undefined;
  const given = await redeemCode(
    authorization,
    response,
    { ...started, requiresIss: true },
    sentResource,
  );
  const { routeId } = upstreamOAuth;
  await tokens.connect(
    {
      ...{ user, issuer, resource, scopes, redirectUri, routeId },
      routeName: route.name,
      binding: bindingOf(route),
      clientId: client.id,
    },
    given,
  );
}
