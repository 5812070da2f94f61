import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import httpProxy from 'http-proxy';

import { createThrowawayAuthority, type ThrowawayAuthority } from './throwaway-authority.ts';

/** What terminates TLS before the servers of a test, which speak plain http, as in a real network. */
export interface TlsEdge extends AsyncDisposable {
  /** The authority of its certificate in PEM. */
  readonly ca: string;
  /** A port that leads to the same servers without TLS, for a `BrowserJar`. */
  readonly plainPort: number;
  /** Returns the https origin of a host of the certificate. */
  originOf(host: string): string;
  /** Passes the requests for a host to a port of this machine, from now on. */
  pass(host: string, port: number): void;
}

/** Where an edge listens for TLS. */
interface EdgePlace {
  readonly address: string;
  readonly port: number;
  /** Issues its certificate; one of its own by default. */
  readonly authority?: ThrowawayAuthority;
}

/** Starts an edge with a certificate for these hosts, on a free port of loopback if no place is given. */
export async function startTlsEdge(
  hosts: readonly string[],
  place: EdgePlace = { address: '127.0.0.1', port: 0 },
): Promise<TlsEdge> {
  const authority = place.authority ?? createThrowawayAuthority();
  const ports = new Map<string, number>();
  const proxy = httpProxy.createProxyServer({ headers: { 'x-forwarded-proto': 'https' } });
  proxy.on('error', (_error, _message, response) => void response.destroy());
  const serve = (message: IncomingMessage, response: ServerResponse): void => {
    const host = message.headers.host?.split(':')[0] ?? '';
    const port = ports.get(host);
    if (port === undefined) response.writeHead(404).end(`nothing is at ${host}`);
    else proxy.web(message, response, { target: { host: '127.0.0.1', port } });
  };
  const secure = createHttpsServer(authority.issue(hosts), serve);
  const plain = createServer(serve);
  const securePort = await listen(secure, place);
  const plainPort = await listen(plain);
  return {
    ...{ ca: authority.ca, plainPort },
    originOf: (host) => new URL(`https://${host}:${String(securePort)}`).origin,
    pass: (host, port) => void ports.set(host, port),
    async [Symbol.asyncDispose]() {
      proxy.close();
      await Promise.all([close(secure), close(plain)]);
    },
  };
}

async function listen(
  server: Server,
  { address, port }: EdgePlace = { address: '127.0.0.1', port: 0 },
): Promise<number> {
  server.listen(port, address);
  await once(server, 'listening');
  // A TCP server has an address of this type.
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}
