import { EventEmitter, once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';

/** A request as an upstream received it. */
export interface ReceivedRequest {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Names and values in their order and spelling. */
  readonly headers: readonly (readonly [string, string])[];
  /** Settles when the exchange is over, with false if the other side left before its end. */
  readonly finished: Promise<boolean>;
}

/** A server behind the gateway. */
export interface Upstream extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  readonly server: HttpServer;
  readonly requests: readonly ReceivedRequest[];
  /** Every connection that was made. */
  readonly connections: readonly Socket[];
  /** Returns the request with this number, from 0, once it has arrived. */
  request(index: number): Promise<ReceivedRequest>;
}

/** Starts a real HTTP server with this handler, at an address of this machine. */
export async function startUpstream(
  handle: RequestListener,
  address = '127.0.0.1',
): Promise<Upstream> {
  const requests: ReceivedRequest[] = [];
  const connections: Socket[] = [];
  const arrivals = new EventEmitter();
  const server = createServer({ keepAliveTimeout: 60_000 }, (message, response) => {
    requests.push({
      message,
      response,
      headers: pairs(message.rawHeaders),
      finished: new Promise((resolve) => {
        response.on('close', () => resolve(response.writableFinished));
      }),
    });
    arrivals.emit('request');
    handle(message, response);
  });
  server.on('connection', (socket) => connections.push(socket));
  const port = await listen(server, address);
  return {
    origin: `http://${address}:${String(port)}`,
    port,
    server,
    requests,
    connections,
    async request(index) {
      for (;;) {
        const request = requests[index];
        if (request !== undefined) return request;
        await once(arrivals, 'request');
      }
    },
    async [Symbol.asyncDispose]() {
      await close(server, connections);
    },
  };
}

/** A server behind the gateway that sends only what `serve` writes. */
export interface RawUpstream extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  readonly connections: readonly Socket[];
}

/** Starts a TCP server; `serve` gets every connection, with its number from 0. */
export async function startRawUpstream(
  serve: (socket: Socket, index: number) => void,
): Promise<RawUpstream> {
  const connections: Socket[] = [];
  const server = createTcpServer((socket) => {
    // Peers that reset are part of what is tested.
    socket.on('error', () => undefined);
    connections.push(socket);
    serve(socket, connections.length - 1);
  });
  const port = await listen(server);
  return {
    origin: `http://127.0.0.1:${String(port)}`,
    port,
    connections,
    async [Symbol.asyncDispose]() {
      await close(server, connections);
    },
  };
}

async function listen(server: Server, address = '127.0.0.1'): Promise<number> {
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  return port;
}

async function close(server: Server, connections: readonly Socket[]): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  for (const socket of connections) socket.destroy();
  await closed;
}

/** Converts a flat list of names and values to pairs. */
function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []));
}
