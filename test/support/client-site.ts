import type { ServerResponse } from 'node:http';

import { authenticateClient } from '../../proxy/authorization-server/clients/authenticate-client.ts';
import { createClientKeysReader } from '../../proxy/authorization-server/clients/client-keys.ts';
import type { Client } from '../../proxy/records/client.ts';
import { createFindClient } from '../../proxy/authorization-server/clients/find-client.ts';
import { createMetadataDocumentReader } from '../../proxy/authorization-server/clients/metadata-document.ts';
import { createGuardedFetch } from '../../proxy/outbound/guarded-fetch.ts';
import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import { compiledSettings } from './compiled-settings.ts';
import { type HttpsServer, startHttpsServer } from './https-server.ts';
import { ISSUER } from './authorization-server.ts';

/** Host of the client's website. */
export const HOST = 'app.clients.example';

/** Settings that allow the client's domain and address. */
export const SETTINGS = compiledSettings({
  allowedClientIdDomains: ['*.clients.example'],
  outboundAllowedCidrs: ['127.0.0.0/8'],
});

/** Responses of the client's server, which tests change between requests. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the members of a valid document. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Replaces the whole document. */
  readonly raw?: string | Buffer;
}

/** A client's website, and a gateway that fetches from it. */
export interface ClientSite extends AsyncDisposable {
  readonly server: HttpsServer;
  readonly clientId: string;
  readonly clock: { now: number };
  /** Names that the gateway resolved. */
  readonly lookups: readonly string[];
  answerWith(answer: Answer): void;
  /** The client that the gateway finds for a client ID. */
  find(clientId?: string, settings?: CompiledSettings): Promise<Client | null>;
  /** A client's request to the token endpoint. */
  authenticate(form: Readonly<Record<string, string>>): Promise<Client>;
}

/** Starts a client's website over real TLS, and a gateway that finds it by an injected name server. */
export async function startClientSite(
  answer: Answer = {},
  addresses: readonly string[] = ['127.0.0.1'],
): Promise<ClientSite> {
  const state = { answer };
  const server = await startHttpsServer([HOST, 'keys.clients.example'], (_request, response) => {
    respond(response, state.answer, clientId);
  });
  const clientId = server.url(HOST, '/metadata.json');
  const clock = { now: Date.parse('2026-11-21T12:00:00Z') };
  const lookups: string[] = [];
  const guardedFetch = createGuardedFetch({
    devAllowLoopback: false,
    ca: server.ca,
    lookup: (hostname) => {
      lookups.push(hostname);
      return Promise.resolve(addresses.map((address) => ({ address, family: 4 })));
    },
  });
  const now = (): number => clock.now;
  const { clients, replays, rateLimits } = createMemoryStores(now);
  const findClient = createFindClient({
    clients,
    readMetadataDocument: createMetadataDocumentReader({
      guardedFetch,
      devAllowLoopback: false,
      now,
    }),
  });
  const readClientKeys = createClientKeysReader({ guardedFetch, now });
  return {
    server,
    clientId,
    clock,
    lookups,
    answerWith: (next) => void (state.answer = next),
    find: (id = clientId, settings = SETTINGS) => findClient(ISSUER, id, settings),
    authenticate: (form) =>
      authenticateClient(
        {
          issuer: ISSUER,
          tokenEndpointUrl: `${ISSUER}/.gateway/mcp/token`,
          authorization: undefined,
          form: new URLSearchParams(form),
          settings: SETTINGS,
          beforeVerifying: () => Promise.resolve(),
        },
        { findClient, readClientKeys, replays, rateLimits, now },
      ),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function respond(
  response: ServerResponse,
  { status = 200, headers = {}, members, raw }: Answer,
  clientId: string,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(raw ?? JSON.stringify({ ...document(clientId), ...members }));
}

export function document(clientId: string): Readonly<Record<string, unknown>> {
  return {
    client_id: clientId,
    client_name: 'Files',
    redirect_uris: ['http://127.0.0.1/callback', 'https://app.clients.example/callback'],
  };
}
