import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Passes connections on to a port of this machine, until it is cut. */
export interface TcpRelay extends AsyncDisposable {
  readonly port: number;
  /** Breaks its connections and everyone that is made from now on. */
  cut(): void;
  /** Ends `cut`. */
  mend(): void;
  /** Passes nothing on any more, and ends nothing: as if the other machine had lost its power. */
  freeze(): void;
}

/** Starts a relay on a port of its own. */
export async function startTcpRelay(toPort: number): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    // What breaks is told by its close.
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(toPort, '127.0.0.1');
    keep(far);
    near.once('close', () => far.destroy()).pipe(far);
    far.once('close', () => near.destroy()).pipe(near);
  });
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A TCP server's address is one.
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
      breakAll();
    },
    mend: () => {
      isCut = false;
    },
    freeze: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      server.close();
      breakAll();
      await once(server, 'close');
    },
  };
}
