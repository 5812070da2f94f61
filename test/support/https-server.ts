import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { createThrowawayAuthority } from './throwaway-authority.ts';

/** A TLS server on loopback with certificates for given names. */
export interface HttpsServer extends AsyncDisposable {
  readonly port: number;
  /** The authority that issued its certificates, in PEM. */
  readonly ca: string;
  /** Targets of the requests that it received, in order. */
  readonly requests: readonly string[];
  /** Names that clients requested in the TLS handshake. */
  readonly serverNames: readonly string[];
  /** Returns a URL of it under one of its names. */
  url(host: string, path: string): string;
}

/** Starts a TLS server with an authority of its own. */
export async function startHttpsServer(
  hosts: readonly string[],
  listener: RequestListener,
): Promise<HttpsServer> {
  const authority = createThrowawayAuthority();
  const requests: string[] = [];
  const serverNames: string[] = [];
  const server = createServer(authority.issue(hosts), (request, response) => {
    requests.push(request.url ?? '');
    listener(request, response);
  });
  server.on('secureConnection', ({ servername }: { servername: string | false }) => {
    serverNames.push(servername === false ? '' : servername);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    ca: authority.ca,
    requests,
    serverNames,
    url: (host, path) => `https://${host}:${String(port)}${path}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
