import { once } from 'node:events';
import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';

import { GatewayError } from '../../proxy/errors/gateway-error.ts';
import { TargetLoads } from '../../proxy/forwarding/targets/target-loads.ts';
import { OpenStreams } from '../../proxy/forwarding/response/open-streams.ts';
import type { HeaderOverlay } from '../../proxy/forwarding/response/response-headers.ts';
import { upstreamOrigin } from '../../proxy/forwarding/upstream-path.ts';
import { UpstreamPools } from '../../proxy/forwarding/targets/upstream-pools.ts';
import type { UpstreamRequest } from '../../proxy/forwarding/request/upstream-request.ts';
import { clientAddressBehind } from '../../proxy/http/client-address.ts';
import type { GatewayRequest } from '../../proxy/http/gateway-request.ts';
import { parseRequest } from '../../proxy/http/parse-request.ts';
import type { RequestMessage } from '../../proxy/http/request-message.ts';
import { readBody } from '../../proxy/http/read-body.ts';
import { sendResponse } from '../../proxy/http/send-response.ts';
import { ANONYMOUS } from '../../proxy/authentication/caller.ts';
import type { Forwarded } from '../../proxy/forwarding/forwarded.ts';
import type { ResponsePlanner } from '../../proxy/forwarding/response/response-plan.ts';
import { Forwarder } from '../../proxy/pipeline/forward.ts';
import { makeUpstreamRequest } from '../../proxy/pipeline/make-upstream-request.ts';
import type { Permit } from '../../proxy/pipeline/permit.ts';
import type { ListenerLimits } from '../../proxy/server/connections.ts';
import { createListener, type Listener } from '../../proxy/server/listener.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';

/** The response of a request, or the connection of a WebSocket. */
interface FrontClient {
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/** Options of a front. */
export interface FrontOptions {
  /** `to` of its only route. */
  readonly upstream: string;
  readonly route?: Partial<CompiledRoute>;
  /** Stands for everything between the parsing of a request and its forwarding. */
  readonly authorize?: (request: GatewayRequest, client: FrontClient) => void | Promise<void>;
  /** Reads whole bodies before it forwards, as MCP routes do. */
  readonly buffers?: boolean;
  readonly added?: readonly string[];
  readonly responseHeaders?: HeaderOverlay;
  /** Replaces a relay with `responseHeaders`. `again` sends the same request once more. */
  readonly plan?: (again: UpstreamRequest) => ResponsePlanner;
  readonly limits?: Partial<ListenerLimits>;
}

let listen: typeof createListener = createListener;

/** Makes every front from now on listen by this function. */
export function listenBy(create: typeof createListener): void {
  listen = create;
}

/** Returns whether the clients of fronts speak another version than HTTP/1.1. */
export function isOverHttp2(): boolean {
  return listen !== createListener;
}

/** The front of the gateway alone: its listener, its parser and its forwarder, and no policy. */
export interface Front extends AsyncDisposable {
  readonly port: number;
  readonly listener: Listener;
  readonly pools: UpstreamPools;
  /** The error that ended the exchange with this number, from 0; undefined if it succeeded. */
  outcome(index: number): Promise<unknown>;
  /** The outcome that the forwarder reported; undefined if nothing of it reached the client. */
  forwarded(index: number): Promise<Forwarded | undefined>;
}

const LIMITS: ListenerLimits = {
  headersMs: 10_000,
  bodyStallMs: 10_000,
  keepAliveMs: 10_000,
  lingerMs: 500,
  lingerBytes: 256 * 1024 * 1024,
};

let asEndpoints = false;

/** Makes every front from now on treat its upstream, in plain HTTP, as the only target of a Service. */
export function treatUpstreamsAsEndpoints(): void {
  asEndpoints = true;
}

/** Starts a front on a free port. */
export async function startFront(options: FrontOptions): Promise<Front> {
  const pools = new UpstreamPools();
  const loads = new TargetLoads();
  const forwarder = new Forwarder({ pools, loads, streams: new OpenStreams() });
  const outcomes: { readonly error?: unknown; readonly forwarded?: Forwarded }[] = [];
  const ends = new EventEmitter();
  const end = async (index: number): Promise<(typeof outcomes)[number]> => {
    for (;;) {
      const outcome = outcomes[index];
      if (outcome !== undefined) return outcome;
      await once(ends, 'end');
    }
  };
  const record = (outcome: (typeof outcomes)[number]): void => {
    outcomes.push(outcome);
    ends.emit('end');
  };
  const listener = await listen(
    { host: '127.0.0.1', port: 0 },
    {
      request(message, response) {
        const serve = async (): Promise<void> => {
          const request = parseRequest(message, 'id-of-request', clientAddressBehind([]));
          await options.authorize?.(request, response);
          const bytes = options.buffers === true ? await readBody(message, 1 << 20) : undefined;
          const upstream = upstreamRequest(options, request, bytes);
          const headers = options.responseHeaders ?? { remove: new Set(), add: [] };
          const planner = options.plan?.(upstream) ?? (() => ({ kind: 'relay', headers }));
          const forwarded = await forwarder.forward(upstream, response, planner);
          record({ forwarded, error: forwarded.failure });
        };
        serve().catch((error: unknown) => {
          record({ error });
          const refused = error instanceof GatewayError ? error : { status: 500, reason: 'bug' };
          const body = JSON.stringify({ error: refused.reason });
          sendResponse(response, { status: refused.status, headers: {}, body }, 'id-of-request');
        });
      },
      upgrade(message, socket, head) {
        upgrade(options, forwarder, { message, socket, head }).then(
          (forwarded) => record({ forwarded, error: forwarded.failure }),
          (error: unknown) => record({ error }),
        );
      },
    },
    { ...LIMITS, ...options.limits },
  );
  return {
    port: listener.port,
    listener,
    pools,
    outcome: async (index) => (await end(index)).error,
    forwarded: async (index) => (await end(index)).forwarded,
    async [Symbol.asyncDispose]() {
      await listener.close(0);
      pools[Symbol.dispose]();
    },
  };
}

async function upgrade(
  options: FrontOptions,
  forwarder: Forwarder,
  { message, socket, head }: { message: RequestMessage; socket: Duplex; head: Buffer },
): Promise<Forwarded> {
  const request = parseRequest(message, 'id-of-request', clientAddressBehind([]));
  await options.authorize?.(request, socket);
  return forwarder.forwardUpgrade(upstreamRequest(options, request), { socket, head });
}

function routeOf({ upstream, route }: FrontOptions): CompiledRoute {
  return {
    kind: 'route',
    name: 'test/route',
    scheme: 'http',
    host: '127.0.0.1',
    port: 80,
    path: { kind: 'prefix', value: '' },
    upstream,
    access: { kind: 'public' },
    allowWebsockets: true,
    responseTimeoutMs: 0,
    ...route,
  };
}

function upstreamRequest(
  options: FrontOptions,
  request: GatewayRequest,
  bytes?: Buffer,
): UpstreamRequest {
  const compiled = routeOf(options);
  const body = bytes && { bytes, message: undefined };
  const route = { compiled, policy: undefined };
  // The front permits every request; in the product only `authorize` does.
  const permit = { request, route, caller: ANONYMOUS, body } as unknown as Permit;
  const origin = upstreamOrigin(compiled);
  const targets = [{ origin, rank: 0 }];
  const isTarget = asEndpoints && origin.startsWith('http:');
  return makeUpstreamRequest(
    permit,
    {
      ofClient: compiled.mcpServer === undefined ? 'forward' : 'remove',
      added: options.added ?? [],
    },
    { origin, choice: isTarget ? { targets, callerRank: undefined } : undefined },
  );
}
