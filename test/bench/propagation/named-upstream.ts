import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An upstream that responds with its name to every request. */
export interface NamedUpstream extends AsyncDisposable {
  readonly name: string;
  readonly origin: string;
}

/** Starts one in this process. It does not record requests, because there are too many. */
export async function startNamedUpstream(name: string): Promise<NamedUpstream> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (_request, response) => {
    response.end(name);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo;
  return {
    name,
    origin: `http://127.0.0.1:${String(port)}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
