import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Relays connections to a port of this machine, until it is cut. */
export interface TcpRelay extends AsyncDisposable {
  readonly port: number;
  /** Breaks its connections, and every connection from now on. */
  cut(): void;
  /** Ends `cut`. */
  mend(): void;
  /** Stops relaying without closing anything, as if the other machine had lost its power. */
  freeze(): void;
}

/** Starts a relay on a free port. */
export async function startTcpRelay(toPort: number): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    // An error is followed by `close`, which ends the relay.
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
    // A TCP server has an address of this type.
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
