import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** One port in front of several, like a Service: each connection goes to a port that accepts it. */
export interface TcpService extends AsyncDisposable {
  readonly port: number;
}

/** Starts a service for ports of this machine. They may change; connections begin with them in turn. */
export async function startTcpService(
  targets: () => readonly number[],
  host = '127.0.0.1',
): Promise<TcpService> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((near) => {
    turn += 1;
    const ports = targets();
    const order = ports.map((_, index) => ports[(index + turn) % ports.length] ?? 0);
    keep(near, sockets);
    relay(near, order, sockets).catch(() => near.destroy());
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    // A TCP server has an address of this type.
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** Rejects if no port accepts the connection. */
async function relay(
  near: Socket,
  [port, ...others]: readonly number[],
  sockets: Set<Socket>,
): Promise<void> {
  if (port === undefined) throw new Error('no target accepts the connection');
  const far = connect(port, '127.0.0.1');
  try {
    await once(far, 'connect');
  } catch {
    await relay(near, others, sockets);
    return;
  }
  keep(far, sockets);
  near.once('close', () => far.destroy()).pipe(far);
  far.once('close', () => near.destroy()).pipe(near);
}

function keep(socket: Socket, sockets: Set<Socket>): void {
  sockets.add(socket);
  // An error is followed by `close`, which ends the connection.
  socket.on('error', () => undefined);
  socket.once('close', () => sockets.delete(socket));
}
