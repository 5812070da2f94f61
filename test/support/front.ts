import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';

import { GatewayError } from '../../proxy/errors/gateway-error.ts';
import { TargetLoads } from '../../proxy/forwarding/targets/target-loads.ts';
import { OpenStreams } from '../../proxy/forwarding/response/open-streams.ts';
import type { HeaderOverlay } from '../../proxy/forwarding/response/response-headers.ts';
import { upstreamHeaders } from '../../proxy/forwarding/request/upstream-headers.ts';
import { upstreamOrigin, upstreamPath } from '../../proxy/forwarding/upstream-path.ts';
import { UpstreamPools } from '../../proxy/forwarding/targets/upstream-pools.ts';
import type { UpstreamRequest } from '../../proxy/forwarding/request/upstream-request.ts';
import { peerAddress } from '../../proxy/http/client-address.ts';
import type { GatewayRequest } from '../../proxy/http/gateway-request.ts';
import { parseRequest } from '../../proxy/http/parse-request.ts';
import { readBody } from '../../proxy/http/read-body.ts';
import { sendResponse } from '../../proxy/http/send-response.ts';
import { ANONYMOUS } from '../../proxy/authentication/caller.ts';
import { createForwarder, type Forwarder } from '../../proxy/pipeline/forward.ts';
import type { Permit } from '../../proxy/pipeline/permit.ts';
import type { ListenerLimits } from '../../proxy/server/connections.ts';
import { createListener, type Listener } from '../../proxy/server/listener.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';

/** What a front does with the requests it gets. */
export interface FrontOptions {
  /** `to` of its one route. */
  readonly upstream: string;
  readonly route?: Partial<CompiledRoute>;
  /** Stands for everything between the parsing of a request and its forwarding. */
  readonly authorize?: (request: GatewayRequest, connection: Duplex) => void | Promise<void>;
  /** Reads whole bodies before it forwards, as MCP server routes do. */
  readonly buffers?: boolean;
  readonly added?: readonly string[];
  readonly responseHeaders?: HeaderOverlay;
  readonly limits?: Partial<ListenerLimits>;
}

/** The front of the gateway alone: its listener, its parser and its forwarder, and no policy. */
export interface Front extends AsyncDisposable {
  readonly port: number;
  readonly listener: Listener;
  readonly pools: UpstreamPools;
  /** How the exchange with this number, from 0, came to its end: undefined when all went well. */
  outcome(index: number): Promise<unknown>;
}

const LIMITS: ListenerLimits = {
  headersMs: 10_000,
  bodyStallMs: 10_000,
  keepAliveMs: 10_000,
  lingerMs: 500,
};

let asEndpoints = false;

/** Has every front from now on treat its upstream, in plain HTTP, as the one endpoint of a Service. */
export function treatUpstreamsAsEndpoints(): void {
  asEndpoints = true;
}

/** Starts a front on a free port. */
export async function startFront(options: FrontOptions): Promise<Front> {
  const pools = new UpstreamPools();
  const loads = new TargetLoads();
  const forwarder = createForwarder({ pools, loads, streams: new OpenStreams() });
  const outcomes: unknown[] = [];
  const ends = new EventEmitter();
  const record = (outcome: unknown): void => {
    outcomes.push(outcome);
    ends.emit('end');
  };
  const listener = await createListener(
    { host: '127.0.0.1', port: 0 },
    {
      request(message, response) {
        const serve = async (): Promise<void> => {
          const request = parseRequest(message, 'id-of-request', peerAddress);
          await options.authorize?.(request, message.socket);
          const body = options.buffers === true ? await readBody(message, 1 << 20) : 'stream';
          const upstream = upstreamRequest(options, request, body);
          const { responseHeaders } = options;
          await forwarder.forward(permit(options), upstream, {
            request,
            response,
            ...(responseHeaders === undefined ? {} : { responseHeaders }),
          });
        };
        serve().then(record, (error: unknown) => {
          record(error);
          if (!(error instanceof GatewayError)) throw error;
          const body = JSON.stringify({ error: error.reason });
          sendResponse(response, { status: error.status, headers: {}, body }, 'id-of-request');
        });
      },
      upgrade(message, socket, head) {
        upgrade(options, forwarder, { message, socket, head }).then(record, record);
      },
    },
    { ...LIMITS, ...options.limits },
  );
  return {
    port: listener.port,
    listener,
    pools,
    async outcome(index) {
      while (outcomes.length <= index) await once(ends, 'end');
      return outcomes[index];
    },
    async [Symbol.asyncDispose]() {
      await listener.close(0);
      await pools[Symbol.asyncDispose]();
    },
  };
}

async function upgrade(
  options: FrontOptions,
  forwarder: Forwarder,
  { message, socket, head }: { message: IncomingMessage; socket: Duplex; head: Buffer },
): Promise<void> {
  const request = parseRequest(message, 'id-of-request', peerAddress);
  await options.authorize?.(request, socket);
  const upstream = upstreamRequest(options, request, 'none');
  await forwarder.forwardUpgrade(permit(options), upstream, { request, socket, head });
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

function permit(options: FrontOptions): Permit {
  const route = { compiled: routeOf(options), policy: undefined };
  // Only `authorize` makes permits. What is tested here comes after it, and asks for one.
  return { route, caller: ANONYMOUS, message: undefined } as unknown as Permit;
}

function upstreamRequest(
  options: FrontOptions,
  request: GatewayRequest,
  body: UpstreamRequest['body'],
): UpstreamRequest {
  const route = routeOf(options);
  const origin = upstreamOrigin(route);
  const endpoint = { origin, rank: 0 };
  const isEndpoint = asEndpoints && origin.startsWith('http:');
  return {
    origin,
    choice: isEndpoint ? { endpoints: [endpoint], callerRank: undefined } : undefined,
    path: upstreamPath(route, request),
    headers: upstreamHeaders(request, {
      scheme: route.scheme,
      authorization: route.mcpServer === undefined ? 'forward' : 'remove',
      added: options.added ?? [],
    }),
    body,
    responseTimeoutMs: route.responseTimeoutMs,
  };
}
