import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import httpProxy from 'http-proxy';

/** A reverse proxy that appends the address of its client to `X-Forwarded-For`. */
export interface LoadBalancer extends AsyncDisposable {
  readonly port: number;
}

/** Starts a proxy that sends from an address of this machine to a port of it, WebSockets included. */
export async function startLoadBalancer(address: string, toPort: number): Promise<LoadBalancer> {
  const proxy = httpProxy.createProxyServer({
    target: { host: '127.0.0.1', port: toPort },
    localAddress: address,
    xfwd: true,
  });
  const server = createServer((message, response) => {
    proxy.web(message, response);
  });
  server.on('upgrade', (message, socket, head) => {
    proxy.ws(message, socket, head);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      proxy.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
