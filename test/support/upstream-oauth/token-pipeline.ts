import { createLogger } from '../../../shared/telemetry/logger.ts';
import { LineWriter } from '../../../shared/telemetry/line-writer.ts';
import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import type { Caller, SignedInCaller } from '../../../proxy/authentication/caller.ts';
import { deriveAssertionKeys } from '../../../proxy/crypto/assertion-keys.ts';
import { Sealer } from '../../../proxy/crypto/sealer.ts';
import { OpenStreams } from '../../../proxy/forwarding/response/open-streams.ts';
import { TargetLoads } from '../../../proxy/forwarding/targets/target-loads.ts';
import { UpstreamPools } from '../../../proxy/forwarding/targets/upstream-pools.ts';
import { AssertionSigner } from '../../../proxy/identity/assertion/assertion.ts';
import { McpSessions } from '../../../proxy/mcp-sessions/mcp-sessions.ts';
import type { GatewayRequest } from '../../../proxy/http/gateway-request.ts';
import { createFailureAnswers } from '../../../proxy/pipeline/answer-failure.ts';
import { Forwarder } from '../../../proxy/pipeline/forward.ts';
import { handleRequest, type Stages } from '../../../proxy/pipeline/handle-request.ts';
import { createListener } from '../../../proxy/server/listener.ts';
import { buildConfiguration } from '../build-configuration.ts';
import { aCompiledRoute, aSnapshot } from '../compiled-resources.ts';
import { compiledSettings } from '../compiled-settings.ts';
import { LISTENER_LIMITS } from '../listener.ts';
import { ScriptedTokens } from './scripted-tokens.ts';

/** The whole path of a request, with scripted internal tokens, and a user who has signed in. */
export interface TokenPipeline extends AsyncDisposable {
  readonly url: string;
  readonly tokens: ScriptedTokens;
  readonly route: CompiledRoute;
  /** Who makes the requests. */
  caller: Caller | ((request: GatewayRequest) => Caller);
  /** Where requests get their tokens; the scripted ones at the beginning. */
  internalTokens: Stages['internalTokens'];
  logs(): readonly Readonly<Record<string, unknown>>[];
}

const HOST = 'localhost';
const SEALING_KEYS = [{ secret: Buffer.alloc(32, 7) }] as const;

/** The user who has signed in. */
export const ALICE: SignedInCaller = {
  kind: 'user',
  via: 'external-token',
  session: {
    ...{ id: 'session-1', signInId: 'sign-in-1', createdAt: 0, expiresAt: Infinity },
    identity: { provider: 'idp', issuer: 'https://idp.test', subject: 'a', groups: [], claims: {} },
  },
};

type McpServer = NonNullable<CompiledRoute['mcpServer']>;

/** Starts it on a free port, for an MCP server at an origin. */
export async function startTokenPipeline(
  upstream: string,
  changes: Partial<McpServer> & {
    readonly responseTimeoutMs?: number;
    readonly tracer?: Stages['tracer'];
  } = {},
): Promise<TokenPipeline> {
  const { responseTimeoutMs = 0, tracer, ...server } = changes;
  let log = '';
  const lines = new LineWriter({ write: (text) => (log += text) });
  const logger = createLogger('proxy', lines);
  const pools = new UpstreamPools();
  const tokens = new ScriptedTokens();
  const listener = await createListener(
    { host: '127.0.0.1', port: 0 },
    {
      request(message, response) {
        handleRequest(message, response, stages).catch(() => response.destroy());
      },
      upgrade: (_message, socket) => socket.destroy(),
    },
    LISTENER_LIMITS,
  );
  const route = aCompiledRoute({
    ...{ name: 'default/mcp', scheme: 'http', host: HOST, port: listener.port, upstream },
    access: { kind: 'policy', policy: { allow: { and: [{ kind: 'accept' }] } } },
    responseTimeoutMs,
    mcpServer: {
      ...{ path: '', maxRequestBytes: 4096 },
      upstreamOAuth: { routeId: 'route-1', authorizationParams: {}, sendsResource: true },
      ...server,
    },
  });
  const configuration = buildConfiguration(aSnapshot(compiledSettings(), route));
  const authenticator = {
    authenticate(request: GatewayRequest): Caller {
      const { caller } = pipeline;
      return typeof caller === 'function' ? caller(request) : caller;
    },
  };
  const pipeline: TokenPipeline = {
    url: `http://${HOST}:${String(listener.port)}`,
    tokens,
    route,
    caller: ALICE,
    internalTokens: tokens,
    logs() {
      lines.flush();
      const written = log.split('\n').filter((line) => line !== '');
      // The log is JSON lines.
      return written.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    async [Symbol.asyncDispose]() {
      await listener.close(0);
      pools[Symbol.dispose]();
    },
  };
  const stages: Stages = {
    requiresTls: () => false,
    configuration: () => configuration,
    findEndpoint: () => undefined,
    authenticators: {
      'external-token': authenticator,
      'session-cookie': authenticator,
      'bearer-token': authenticator,
    },
    authorizationLog: { write: () => undefined },
    assertions: new AssertionSigner({
      defaultKeys: deriveAssertionKeys(SEALING_KEYS),
      now: Date.now,
      random: Math.random,
    }),
    mcpSessions: new McpSessions(new Sealer(SEALING_KEYS)),
    get internalTokens() {
      return pipeline.internalTokens;
    },
    connectLinks: { urlFor: ({ user: { subject } }, origin) => `${origin}/connect?of=${subject}` },
    random: Math.random,
    now: Date.now,
    tracer,
    forwarder: new Forwarder({ pools, loads: new TargetLoads(), streams: new OpenStreams() }),
    accessLog: { write: () => undefined, writeRefused: () => undefined },
    metrics: { count: () => undefined },
    logger,
    answerFailure: createFailureAnswers({
      logger,
      redirectToSignIn: () => ({ status: 303, headers: {}, body: '' }),
    }),
  };
  return pipeline;
}
