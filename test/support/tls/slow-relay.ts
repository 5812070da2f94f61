import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Passes connections on to a port of this machine. */
export interface SlowRelay extends AsyncDisposable {
  readonly port: number;
}

/** Starts a relay that passes each of the first bytes of a client on by itself, and the others as they come. */
export async function startSlowRelay(toPort: number, slowBytes: number): Promise<SlowRelay> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect({ host: '127.0.0.1', port: toPort, noDelay: true });
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    target.pipe(client);
    let passed = 0;
    let turn = Promise.resolve();
    client.on('data', (bytes: Buffer) => {
      turn = turn.then(async () => {
        for (let at = 0; at < bytes.length;) {
          const end = passed < slowBytes ? at + 1 : bytes.length;
          target.write(bytes.subarray(at, end));
          passed += end - at;
          at = end;
          await sleep(0);
        }
      });
    });
    client.on('close', () => target.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
