import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import type { ListenAddress } from '../../shared/runtime/listen-address.ts';
import { LINGER } from '../http/close-gently.ts';
import type { ListenerHandlers } from '../http/listener-handlers.ts';
import { Acceptor } from './acceptor.ts';
import { LOOKS_FOR_IDLE } from './connection.ts';
import { Connections, type ListenerLimits } from './connections.ts';
import { FrontMessage } from './front-message.ts';
import { FrontResponse } from './front-response.ts';
import { Http2Connections } from './http2/http2-connections.ts';
import { Handshakes } from './tls/handshakes.ts';

/** A listening socket. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Number of connections that clients have. */
  connections(): number;
  /** Makes every response from now on the last of its connection, and still accepts connections. */
  announceClose(): void;
  /**
   * Accepts no more connections, lets current requests finish for at most `drainMs`, then calls `onTimeout`
   * and closes the remaining connections. One that is idle for `idleMs` is closed earlier.
   */
  close(drainMs?: number, onTimeout?: () => void, idleMs?: number): Promise<void>;
}

const SECOND = 1_000;

const LIMITS: ListenerLimits = {
  headersMs: 20 * SECOND,
  bodyStallMs: 30 * SECOND,
  // Longer than usual load balancers (60 s), so that the gateway does not close first.
  keepAliveMs: 75 * SECOND,
  ...LINGER,
};

const DRAIN_MS = 10 * SECOND;
const DRAIN_SWEEP_MS = 100;
const MAX_HEADER_BYTES = 16 * 1024;
const TCP_KEEP_ALIVE_MS = 60 * SECOND;
const CHECKS_PER_LIMIT = 4;

const SOCKET_OPTIONS = {
  // Clients may end their side of a connection before they have the response.
  allowHalfOpen: true,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
};

const HTTP2 = 'h2';

const HANDSHAKES = { handshakeMs: 10 * SECOND, protocols: [HTTP2, 'http/1.1'] };

/**
 * Listens on an address; port 0 binds a free port. With `isTls`, clients speak TLS, and HTTP/2 or HTTP/1.1 on it;
 * else HTTP/1.1.
 */
export async function createListener(
  { host, port, isTls = false }: Omit<ListenAddress, 'host'> & { readonly host?: string },
  handlers: ListenerHandlers,
  limits: ListenerLimits = LIMITS,
): Promise<Listener> {
  const front = createFront(limits);
  const http1 = new Connections(handlers, limits);
  http1.attach(front);
  const serveHttp1 = (socket: Socket): void => void front.emit('connection', socket);
  const secure = isTls ? createSecureFront(handlers, limits, serveHttp1) : undefined;
  const acceptor = new Acceptor({
    handlers,
    headerMs: limits.headersMs,
    serve: secure?.serve ?? plainly(serveHttp1),
  });
  // The sides of a TLS connection end together: nobody would notice a client that leaves in its handshake.
  const server = createServer({ ...SOCKET_OPTIONS, allowHalfOpen: !isTls }, acceptor.accept);
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    endChecks({ front, http1, http2: secure?.http2 });
    throw error;
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP listener');
  return {
    host: address.address,
    port: address.port,
    isTls,
    connections: () => acceptor.size,
    announceClose() {
      http1.announceClose();
      secure?.http2.announceClose();
    },
    close: (drainMs = DRAIN_MS, onTimeout, idleMs = 0) =>
      drain(
        { server, front, acceptor, http1, http2: secure?.http2 },
        { drainMs, onTimeout, idleMs },
      ),
  };
}

/** Serves connections without TLS. Requests carry the socket, and with it what a PROXY header said. */
function plainly(serve: (socket: Socket) => void): (socket: Socket, address: string) => void {
  return (socket, address) => {
    if (socket.remoteAddress !== address) {
      Object.defineProperty(socket, 'remoteAddress', { value: address });
    }
    serve(socket);
  };
}

/** What serves connections with TLS. */
interface SecureFront {
  readonly http2: Http2Connections;
  readonly serve: (socket: Socket, address: string) => void;
}

function createSecureFront(
  handlers: ListenerHandlers,
  limits: ListenerLimits,
  serveHttp1: (socket: Socket) => void,
): SecureFront {
  const handshakes = new Handshakes({ handlers, ...HANDSHAKES });
  const http2 = new Http2Connections(handlers, limits);
  const serve = (socket: TLSSocket): void => {
    if (socket.alpnProtocol === HTTP2) http2.accept(socket);
    else serveHttp1(socket);
  };
  return { http2, serve: (socket, address) => handshakes.begin(socket, address, serve) };
}

type FrontServer = HttpServer<typeof FrontMessage, typeof FrontResponse>;

/** What a listener consists of. */
interface ListenerParts {
  readonly server: Server;
  readonly front: FrontServer;
  readonly acceptor: Acceptor;
  readonly http1: Connections;
  readonly http2: Http2Connections | undefined;
}

interface DrainOptions {
  readonly drainMs: number;
  readonly onTimeout: (() => void) | undefined;
  readonly idleMs: number;
}

async function drain(
  { server, front, acceptor, http1, http2 }: ListenerParts,
  { drainMs, onTimeout, idleMs }: DrainOptions,
): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  http1.drain();
  // Its clients learn of the close at once, and repeat what was not served.
  http2?.drain();
  // A client whose last response promised a next one, such as an event stream that ends now, may send a request
  // before it learns of a close.
  const closeIdle = (): void => {
    if (idleMs > 0) http1.closeIdle();
    else front.closeIdleConnections();
  };
  closeIdle();
  if (idleMs === 0) http1.closeUnused();
  const unused = setTimeout(() => acceptor.closeUnused(), idleMs);
  const sweep = setInterval(closeIdle, idleMs > 0 ? idleMs / LOOKS_FOR_IDLE : DRAIN_SWEEP_MS);
  const end = setTimeout(() => {
    onTimeout?.();
    // Bytes written in this turn have left in the next.
    setImmediate(() => acceptor.destroy());
  }, drainMs);
  await closed;
  endChecks({ front, http1, http2 });
  clearTimeout(unused);
  clearInterval(sweep);
  clearTimeout(end);
}

/** Ends the timers of a listener that has no connections. */
function endChecks({
  front,
  http1,
  http2,
}: Pick<ListenerParts, 'front' | 'http1' | 'http2'>): void {
  front.close();
  http1[Symbol.dispose]();
  http2?.[Symbol.dispose]();
}

/**
 * Makes the server of HTTP/1.1. It listens nowhere: connections are handed to it by its event `connection`,
 * once it is known that they are HTTP/1.1.
 */
function createFront({ headersMs, keepAliveMs }: ListenerLimits): FrontServer {
  const server = createHttpServer<typeof FrontMessage, typeof FrontResponse>({
    IncomingMessage: FrontMessage,
    ServerResponse: FrontResponse,
    // Even if the process was started with `--insecure-http-parser`.
    insecureHTTPParser: false,
    // The pipeline refuses a missing Host, and closes the connection; Node would read the bytes after it.
    requireHostHeader: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersMs,
    connectionsCheckingInterval: Math.ceil(headersMs / CHECKS_PER_LIMIT),
    // An upload may take any time: bodies are only checked for stalling.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    shouldUpgradeCallback: ({ method, headers }) =>
      method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket',
  });
  // By default Node silently drops header fields after the thousandth, such as a second Host.
  server.maxHeadersCount = 0;
  // By this event Node begins to check how long clients take for their headers.
  server.emit('listening');
  return server;
}
