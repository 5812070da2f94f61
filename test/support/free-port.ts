import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A port on 127.0.0.1 that nothing listens on, for programs that must be told theirs. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is one.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
