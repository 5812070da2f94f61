import type { CompiledUpstreamOAuth } from '../../../shared/snapshot/compiled-upstream-oauth.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import type { SignedInCaller } from '../../../proxy/authentication/caller.ts';
import { createMemoryStores } from '../../../proxy/store/memory/memory-stores.ts';
import type { Stores } from '../../../proxy/store/stores.ts';
import { AuditLog } from '../../../proxy/telemetry/audit-log.ts';
import { bindingOf } from '../../../proxy/upstream-oauth/binding.ts';
import { InternalTokens } from '../../../proxy/upstream-oauth/internal-tokens/internal-tokens.ts';
import type { UpstreamServer } from '../../../proxy/upstream-oauth/upstream-authorization.ts';
import { aCompiledRoute } from '../compiled-resources.ts';
import { compiledSettings } from '../compiled-settings.ts';
import { createRecordingLogger, type RecordingLogger } from '../redis/recording-logger.ts';
import { ISSUER, jsonResponse, type SentRequest, serverAnswering } from './answering-server.ts';

/** A route with upstream OAuth, and `changes` to it. */
export function aConnectableRoute(
  oauth: Partial<CompiledUpstreamOAuth> = {},
  changes: Partial<CompiledRoute> = {},
): CompiledRoute {
  const upstreamOAuth = {
    routeId: 'uid-of-the-route',
    authorizationParams: {},
    sendsResource: true,
    ...oauth,
  };
  return aCompiledRoute({
    name: 'team/files',
    host: 'files.example.com',
    upstream: 'https://upstream.example.com',
    mcpServer: { path: '/mcp', maxRequestBytes: 1000, upstreamOAuth },
    ...changes,
  });
}

/** A caller who signed in as this user. */
export function aCaller(subject = 'alice'): SignedInCaller {
  const identity = { provider: 'corp', issuer: 'https://idp.example.com', subject };
  return {
    kind: 'user',
    via: 'external-token',
    session: {
      id: `session of ${subject}`,
      signInId: `sign-in of ${subject}`,
      createdAt: 0,
      expiresAt: Infinity,
      identity: { ...identity, groups: [], claims: {} },
    },
  };
}

/** Internal tokens whose authorization server a test scripts. */
export interface InternalTokensFixture extends Disposable {
  readonly tokens: InternalTokens;
  readonly stores: Stores;
  readonly logger: RecordingLogger;
  /** Milliseconds since the epoch. */
  time: number;
  /** Requests to the server so far. */
  readonly requests: readonly SentRequest[];
  /** How the server answers; by default with `access-N` and `refresh-N` for an hour. */
  answer: (request: SentRequest) => Response | Promise<Response>;
  /** The gateway as a client, or null if its registration is gone. */
  client: UpstreamServer['client'] | null;
  /** Registrations that were forgotten. */
  readonly forgotten: readonly string[];
  /** Another proxy with the same stores and the same server. */
  another(): InternalTokens;
  /** Connects a user with the tokens that the server gives now. */
  connect(route?: CompiledRoute, subject?: string, given?: Given): Promise<void>;
}

/** What the server gave for a code. */
export interface Given {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly lifetimeSeconds?: number;
  readonly scopes?: readonly string[];
}

const HOUR_SECONDS = 3600;

/** The context of every request. */
export const CONTEXT = { configuration: { settings: compiledSettings() } };

/** What `connect` keeps unless the test gives something else. */
export const GIVEN: Given = {
  accessToken: 'access-1',
  refreshToken: 'refresh-1',
  lifetimeSeconds: HOUR_SECONDS,
};

/** Makes internal tokens on stores in memory, or on others. */
export function internalTokensFixture(
  wrap: (stores: Stores) => Stores = (stores) => stores,
  tracer?: Tracer,
): InternalTokensFixture {
  let answers = 1;
  const { server, requests } = serverAnswering((request) => fixture.answer(request));
  const forgotten: string[] = [];
  const logger = createRecordingLogger();
  const now = (): number => fixture.time;
  const stores = wrap(createMemoryStores(now));
  const made: InternalTokens[] = [];
  const make = (): InternalTokens => {
    const tokens = new InternalTokens({
      stores,
      servers: {
        forIssuer: () => {
          const { client } = fixture;
          return Promise.resolve(client && { ...server, client });
        },
        forgetRegistration: (issuer, callback, clientId) => {
          forgotten.push(`${clientId} at ${issuer} for ${callback}`);
          return Promise.resolve();
        },
      },
      audit: new AuditLog(logger),
      logger,
      tracer,
      outageGraceSeconds: () => HOUR_SECONDS,
      now,
    });
    made.push(tokens);
    return tokens;
  };
  const fixture: InternalTokensFixture = {
    time: Date.UTC(2026, 0, 1),
    stores,
    logger,
    requests,
    client: { id: 'gatehouse', authMethod: 'none', source: 'registered' },
    forgotten,
    answer: () => {
      answers += 1;
      return jsonResponse({
        access_token: `access-${String(answers)}`,
        refresh_token: `refresh-${String(answers)}`,
        token_type: 'Bearer',
        expires_in: HOUR_SECONDS,
      });
    },
    tokens: make(),
    another: make,
    connect: (route = aConnectableRoute(), subject = 'alice', given = GIVEN) =>
      fixture.tokens.connect(aConnection(route, subject), given),
    [Symbol.dispose]: () => {
      for (const tokens of made) tokens[Symbol.dispose]();
    },
  };
  return fixture;
}

function aConnection(
  route: CompiledRoute,
  subject: string,
): Parameters<InternalTokens['connect']>[0] {
  const { provider, issuer = '' } = aCaller(subject).session.identity;
  return {
    user: { provider, issuer, subject },
    routeName: route.name,
    routeId: route.mcpServer?.upstreamOAuth?.routeId ?? '',
    binding: bindingOf(route),
    issuer: ISSUER,
    clientId: 'gatehouse',
    resource: 'https://upstream.example.com/mcp',
    scopes: ['read'],
    redirectUri: 'https://files.example.com/.gateway/mcp/client/oauth/callback',
  };
}
