import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Snapshot } from '../../shared/snapshot/snapshot.ts';

/** What the process knows of itself. */
export interface AdminSources {
  /** A snapshot is applied, everything listens, and the process does not end. */
  isReady(): boolean;
  /** The snapshot that serves; undefined before the first. */
  snapshot(): Snapshot | undefined;
}

export interface AdminServer {
  readonly address: { readonly host: string; readonly port: number };
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * Serves the admin port: `/livez`, `/readyz` and `/debug/snapshot`. Never to be reached from outside.
 *
 * The snapshot shows as keys and hashes only: its values hold secrets.
 */
export async function startAdminServer(
  listen: { readonly host: string; readonly port: number },
  sources: AdminSources,
): Promise<AdminServer> {
  const server = createServer((request, response) => send(response, answer(request, sources)));
  const { promise: isListening, resolve, reject } = Promise.withResolvers<undefined>();
  server.once('error', reject);
  server.listen(listen.port, listen.host, () => resolve(undefined));
  await isListening;
  return {
    address: boundAddress(server.address()),
    close: async () => {
      const { promise, resolve: onClosed } = Promise.withResolvers<undefined>();
      server.close(() => onClosed(undefined));
      server.closeAllConnections();
      await promise;
    },
  };
}

function answer({ method, url = '' }: IncomingMessage, sources: AdminSources): Answer {
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, body: { error: 'method_not_allowed' } };
  }
  switch (url.replace(/\?.*$/, '')) {
    case '/livez':
      return { status: 200, body: { status: 'alive' } };
    case '/readyz':
      return sources.isReady()
        ? { status: 200, body: { status: 'ready' } }
        : { status: 503, body: { status: 'not ready' } };
    case '/debug/snapshot':
      return { status: 200, body: outline(sources.snapshot()) };
    default:
      return { status: 404, body: { error: 'not_found' } };
  }
}

function outline(snapshot: Snapshot | undefined): unknown {
  if (snapshot === undefined) return { version: null, resources: [] };
  const resources = [...snapshot.resources.values()].map(({ key, hash }) => ({ key, hash }));
  return { version: snapshot.version, resources };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
    'content-type': 'application/json',
  });
  response.end(text);
}

function boundAddress(address: AddressInfo | string | null): AdminServer['address'] {
  if (typeof address !== 'object' || address === null) throw new Error('not a TCP address');
  return { host: address.address, port: address.port };
}
