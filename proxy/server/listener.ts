import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

import { LINGER } from '../http/close-gently.ts';
import { Connections, type ListenerHandlers, type ListenerLimits } from './connections.ts';
import { FrontMessage } from './front-message.ts';
import { FrontResponse } from './front-response.ts';

/** A listening socket. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Number of connections that clients have. */
  connections(): number;
  /** Makes every response from now on the last of its connection, and still accepts connections. */
  announceClose(): void;
  /**
   * Accepts no more connections, lets current requests finish for at most `drainMs`, then calls `onTimeout`
   * and closes the remaining connections.
   */
  close(drainMs?: number, onTimeout?: () => void): Promise<void>;
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

/** Listens for HTTP/1.1 on an address; port 0 binds a free port. */
export async function createListener(
  { host, port }: { readonly host?: string; readonly port: number },
  handlers: ListenerHandlers,
  limits: ListenerLimits = LIMITS,
): Promise<Listener> {
  const server = createFront(limits);
  const connections = new Connections(handlers, limits);
  connections.attach(server);
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP listener');
  return {
    host: address.address,
    port: address.port,
    connections: () => connections.size,
    announceClose: () => connections.announceClose(),
    close: (drainMs = DRAIN_MS, onTimeout) => drain(server, connections, { drainMs, onTimeout }),
  };
}

type FrontServer = Server<typeof FrontMessage, typeof FrontResponse>;

async function drain(
  server: FrontServer,
  connections: Connections,
  { drainMs, onTimeout }: { drainMs: number; onTimeout: (() => void) | undefined },
): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  connections.drain();
  const sweep = setInterval(() => server.closeIdleConnections(), DRAIN_SWEEP_MS);
  const end = setTimeout(() => {
    onTimeout?.();
    // Bytes written in this turn have left in the next.
    setImmediate(() => connections.destroy());
  }, drainMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(end);
}

function createFront({ headersMs, keepAliveMs }: ListenerLimits): FrontServer {
  const server = createServer<typeof FrontMessage, typeof FrontResponse>({
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
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    shouldUpgradeCallback: ({ method, headers }) =>
      method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket',
  });
  // By default Node silently drops header fields after the thousandth, such as a second Host.
  server.maxHeadersCount = 0;
  return server;
}
