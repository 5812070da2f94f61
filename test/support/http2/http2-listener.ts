import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:tls';

import type { ListenerHandlers } from '../../../proxy/http/listener-handlers.ts';
import type { ListenerLimits } from '../../../proxy/server/connections.ts';
import { Http2Connections } from '../../../proxy/server/http2/http2-connections.ts';
import type { Listener } from '../../../proxy/server/listener.ts';
import { LISTENER_LIMITS } from '../listener.ts';
import { createThrowawayAuthority } from '../throwaway-authority.ts';

const authority = createThrowawayAuthority();
const certificate = authority.issue(['localhost', 'app.test', '127.0.0.1']);

/** The authority of every `createHttp2Listener`, in PEM. */
export const HTTP2_AUTHORITY = authority.ca;

/** Listens for HTTP/2 over TLS on a free port of loopback, as `createListener` does for HTTP/1.1. */
export async function createHttp2Listener(
  _address: unknown,
  handlers: ListenerHandlers,
  limits: ListenerLimits = LISTENER_LIMITS,
): Promise<Listener> {
  const connections = new Http2Connections(handlers, limits);
  const sockets = new Set<Socket>();
  const server = createServer({ ...certificate, ALPNProtocols: ['h2'] }, (socket) => {
    connections.accept(socket);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this type.
  const { address, port } = server.address() as AddressInfo;
  return {
    host: address,
    port,
    isTls: true,
    connections: () => connections.size,
    announceClose: () => connections.announceClose(),
    async close(drainMs = 0, onTimeout) {
      const closed = once(server, 'close');
      server.close();
      connections.drain();
      const end = setTimeout(() => {
        onTimeout?.();
        setImmediate(() => {
          connections.destroy();
          for (const socket of sockets) socket.destroy();
        });
      }, drainMs);
      await closed;
      clearTimeout(end);
      connections[Symbol.dispose]();
    },
  };
}
