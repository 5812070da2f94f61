import type { ServerResponse } from 'node:http';

import { describe, expect, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { authenticateClient } from '../../proxy/authorization-server/clients/authenticate-client.ts';
import { createClientKeysReader } from '../../proxy/authorization-server/clients/client-keys.ts';
import type { Client } from '../../proxy/records/client.ts';
import { createFindClient } from '../../proxy/authorization-server/clients/find-client.ts';
import { createMetadataDocumentReader } from '../../proxy/authorization-server/clients/metadata-document.ts';
import { createGuardedFetch } from '../../proxy/outbound/guarded-fetch.ts';
import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import { compiledSettings } from '../support/compiled-settings.ts';
import { type HttpsServer, startHttpsServer } from '../support/https-server.ts';
import { verifies } from '../requirements/verifies.ts';
import { ISSUER, startAuthorizationServer } from '../support/authorization-server.ts';
import { authorizationUrl } from '../support/client-flow.ts';

const HOST = 'app.clients.example';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const SETTINGS = compiledSettings({
  allowedClientIdDomains: ['*.clients.example'],
  outboundAllowedCidrs: ['127.0.0.0/8'],
});

/** How the client's server answers, from one request to the next. */
interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of a good document's. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** In place of a document. */
  readonly raw?: string | Buffer;
}

interface ClientSite extends AsyncDisposable {
  readonly server: HttpsServer;
  readonly clientId: string;
  readonly clock: { now: number };
  /** Names that were resolved. */
  readonly lookups: readonly string[];
  answerWith(answer: Answer): void;
  /** The gateway's view of a client ID. */
  find(clientId?: string, settings?: CompiledSettings): Promise<Client | null>;
  /** A client's request to the token endpoint. */
  authenticate(form: Readonly<Record<string, string>>): Promise<Client>;
}

/** A client's website over real TLS, and a gateway that finds it by an injected name server. */
async function startClientSite(
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

function document(clientId: string): Readonly<Record<string, unknown>> {
  return {
    client_id: clientId,
    client_name: 'Files',
    redirect_uris: ['http://127.0.0.1/callback', 'https://app.clients.example/callback'],
  };
}

describe('A client ID that is a URL', () => {
  verifies('client-id.url', 'names the client that its document describes', async () => {
    await using site = await startClientSite({
      members: {
        client_uri: 'https://app.clients.example/',
        logo_uri: 'https://app.clients.example/logo.png',
        grant_types: [
          'authorization_code',
          'refresh_token',
          'urn:ietf:params:oauth:grant-type:device_code',
        ],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        token_endpoint_auth_methods_supported: ['none'],
      },
    });
    expect(await site.find()).toEqual({
      id: site.clientId,
      source: 'metadata-document',
      metadata: {
        clientName: 'Files',
        clientUri: 'https://app.clients.example/',
        redirectUris: ['http://127.0.0.1/callback', 'https://app.clients.example/callback'],
        grantTypes: ['authorization_code', 'refresh_token'],
        tokenEndpointAuthMethod: 'none',
      },
    });
    expect(site.server.requests).toEqual(['/metadata.json']);
    expect(site.server.serverNames).toEqual([HOST]);
  });

  verifies(
    ['client-id.url', 'as.client-authentication'],
    'is a public client unless its document says otherwise',
    async () => {
      await using site = await startClientSite();
      expect(await site.authenticate({ client_id: site.clientId })).toMatchObject({
        id: site.clientId,
      });
      await expect(
        site.authenticate({ client_id: site.clientId, client_secret: 'guess' }),
      ).rejects.toMatchObject({ code: 'invalid_client' });
    },
  );

  for (const type of [
    'application/json; charset=utf-8',
    'application/client-metadata+json',
    'Application/JSON',
  ]) {
    verifies('client-id.url', `may have a document of type ${type}`, async () => {
      await using site = await startClientSite({ headers: { 'content-type': type } });
      expect(await site.find()).toMatchObject({ id: site.clientId });
    });
  }

  verifies(
    'as.metadata-document-size',
    'may have a document of five kilobytes, and no more',
    async () => {
      await using site = await startClientSite();
      const rest = JSON.stringify({ ...document(site.clientId), padding: '' }).length;
      const padded = (length: number) => ({ members: { padding: 'x'.repeat(length - rest) } });
      site.answerWith(padded(5121));
      await expect(site.find()).rejects.toMatchObject({
        reason: 'client-metadata-invalid',
        cause: { kind: 'too-large' },
      });
      site.answerWith(padded(5120));
      expect(await site.find()).toMatchObject({ id: site.clientId });
    },
  );
});

describe('The domain of a URL client ID is checked before its document is fetched', () => {
  async function expectRefused(
    clientId: string,
    allowedClientIdDomains: readonly string[],
  ): Promise<void> {
    await using site = await startClientSite();
    await expect(
      site.find(clientId, { ...SETTINGS, allowedClientIdDomains }),
    ).rejects.toMatchObject({ name: 'ClientIdDomainNotAllowedError', clientId });
    expect(site.lookups).toEqual([]);
  }

  const REFUSED: readonly (readonly [string, string, readonly string[]])[] = [
    ['no domain is allowed', 'https://app.clients.example/c', []],
    ['it is another domain', 'https://app.other.example/c', ['*.clients.example']],
    ['it only begins alike', 'https://app.clients.example.evil.example/c', ['*.clients.example']],
    [
      'it hides behind a user name',
      'https://app.clients.example@evil.example/c',
      ['*.clients.example'],
    ],
    ['it ends in a dot', 'https://app.clients.example./c', ['*.clients.example']],
    ['it is an address', 'https://127.0.0.1/c', ['*.clients.example']],
    ['it is none', 'https://', ['*.clients.example']],
  ];

  for (const [title, clientId, allowedClientIdDomains] of REFUSED) {
    verifies('client-id.domain-checked-first', `and refused when ${title}`, () =>
      expectRefused(clientId, allowedClientIdDomains),
    );
  }

  const BESIDE_A_WILDCARD: readonly (readonly [string, string])[] = [
    ['it is the bare domain of a wildcard', 'https://clients.example/c'],
    ['it only ends alike', 'https://evilclients.example/c'],
  ];

  for (const [title, clientId] of BESIDE_A_WILDCARD) {
    verifies(
      ['client-id.wildcard', 'client-id.domain-checked-first'],
      `and refused when ${title}`,
      () => expectRefused(clientId, ['*.clients.example']),
    );
  }

  verifies('client-id.wildcard', 'and matches a wildcard at any depth', async () => {
    await using site = await startClientSite();
    const allowedClientIdDomains = ['*.example'];
    expect(await site.find(site.clientId, { ...SETTINGS, allowedClientIdDomains })).not.toBeNull();
  });

  verifies('client-id.domain-checked-first', 'also for a document that is cached', async () => {
    await using site = await startClientSite();
    await site.find();
    await expect(
      site.find(site.clientId, { ...SETTINGS, allowedClientIdDomains: [] }),
    ).rejects.toMatchObject({ name: 'ClientIdDomainNotAllowedError' });
  });

  verifies(
    'errors.client-id-domain-page',
    'and the page says so, with the client ID and the id of the request',
    async () => {
      await using gateway = await startAuthorizationServer();
      const clientId = 'https://evil.example/<client>';
      const reply = await gateway.send(authorizationUrl(clientId));
      expect(reply.status).toBe(400);
      expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(reply.headers.location).toBeUndefined();
      expect(reply.body).toContain(
        'The administrator restricted the list of MCP client ID document domains',
      );
      expect(reply.body).toContain('https://evil.example/&lt;client&gt;');
      expect(reply.body).toContain(String(reply.headers['x-request-id']));
    },
  );
});

describe('A URL client ID is refused without a request when it', () => {
  const MALFORMED: readonly (readonly [string, string])[] = [
    ['is not https', `http://${HOST}/c`],
    ['has no path', `https://${HOST}`],
    ['has only the root path', `https://${HOST}/`],
    ['has a dot segment', `https://${HOST}/a/../c`],
    ['has an encoded dot segment', `https://${HOST}/a/%2e%2e/c`],
    ['has a fragment', `https://${HOST}/c#d`],
    ['has a user name', `https://user@${HOST}/c`],
    ['has a password', `https://:pass@${HOST}/c`],
  ];

  for (const [title, clientId] of MALFORMED) {
    verifies('as.metadata-document-url', title, async () => {
      await using site = await startClientSite();
      await expect(site.find(clientId)).rejects.toMatchObject({
        reason: 'client-metadata-invalid',
      });
      expect(site.lookups).toEqual([]);
    });
  }
});

describe('Fetching a document reaches no special-purpose address', () => {
  const ADDRESSES: readonly (readonly [string, readonly string[]])[] = [
    ['a private address', ['10.0.0.1']],
    ['the metadata service of a cloud', ['169.254.169.254']],
    ['a private address beside a public one', ['8.8.8.8', '192.168.1.1']],
    ['loopback, which is not allowed here', ['127.0.0.1']],
  ];

  for (const [title, addresses] of ADDRESSES) {
    verifies('as.metadata-document-guarded', `when the name leads to ${title}`, async () => {
      await using site = await startClientSite({}, addresses);
      const settings = { ...SETTINGS, outboundAllowedCidrs: [] };
      await expect(site.find(site.clientId, settings)).rejects.toMatchObject({
        reason: 'client-metadata-invalid',
        explanation: 'The metadata document of this client could not be fetched.',
        cause: { name: 'OutboundRefusedError', kind: 'address' },
      });
      expect(site.server.requests).toEqual([]);
    });
  }

  for (const status of [301, 302, 303, 307, 308]) {
    verifies('as.metadata-document-guarded', `by a redirect (${String(status)})`, async () => {
      await using site = await startClientSite();
      site.answerWith({ status, headers: { location: `${site.clientId}?again` } });
      await expect(site.find()).rejects.toMatchObject({ reason: 'client-metadata-invalid' });
      expect(site.server.requests).toEqual(['/metadata.json']);
    });
  }
});

describe('A document does not count', () => {
  const NOT_A_DOCUMENT: readonly (readonly [string, Answer])[] = [
    ['with status 201', { status: 201 }],
    ['with status 404', { status: 404 }],
    ['as a web page', { headers: { 'content-type': 'text/html' } }],
    ['as text', { headers: { 'content-type': 'text/plain' } }],
    ['that is no JSON', { raw: '{"client_id":' }],
    ['that is a list', { raw: '[]' }],
    ['of another client', { members: { client_id: 'https://app.clients.example/other.json' } }],
    [
      'with another spelling of its URL',
      { members: { client_id: 'https://APP.clients.example/metadata.json' } },
    ],
    ['of nobody', { members: { client_id: undefined } }],
    ['without a name', { members: { client_name: undefined } }],
    ['with a name that cannot be seen', { members: { client_name: '\u200b' } }],
    ['without redirect URIs', { members: { redirect_uris: undefined } }],
    ['with no redirect URI in its list', { members: { redirect_uris: [] } }],
    ['with a redirect URI that runs code', { members: { redirect_uris: ['javascript:alert(1)'] } }],
    [
      'with a redirect URI in the clear',
      { members: { redirect_uris: ['http://app.clients.example/'] } },
    ],
    ['with a secret', { members: { client_secret: 's3cret' } }],
    ['with the end of a secret', { members: { client_secret_expires_at: 0 } }],
    [
      'that authenticates with a secret',
      { members: { token_endpoint_auth_method: 'client_secret_basic' } },
    ],
    [
      'that authenticates with a posted secret',
      { members: { token_endpoint_auth_method: 'client_secret_post' } },
    ],
    ['that signs with a secret', { members: { token_endpoint_auth_method: 'client_secret_jwt' } }],
    ['that signs without keys', { members: { token_endpoint_auth_method: 'private_key_jwt' } }],
    [
      'with a private key',
      {
        members: {
          token_endpoint_auth_method: 'private_key_jwt',
          jwks: { keys: [{ kty: 'EC', d: 'd' }] },
        },
      },
    ],
    [
      'with keys on a domain that is not allowed',
      {
        members: {
          token_endpoint_auth_method: 'private_key_jwt',
          jwks_uri: 'https://keys.other.example/jwks',
        },
      },
    ],
  ];

  for (const [title, answer] of NOT_A_DOCUMENT) {
    verifies('as.metadata-document-checked', title, async () => {
      await using site = await startClientSite(answer);
      await expect(site.find()).rejects.toMatchObject({
        name: 'MetadataDocumentError',
        reason: 'client-metadata-invalid',
        status: 400,
      });
      await expect(site.authenticate({ client_id: site.clientId })).rejects.toMatchObject({
        code: 'invalid_client',
      });
      expect(site.server.requests).toHaveLength(2);
    });
  }

  verifies('as.metadata-document-checked', 'that is not UTF-8', async () => {
    await using site = await startClientSite();
    const latin1 = JSON.stringify({ ...document(site.clientId), client_name: 'Dönerladen' });
    site.answerWith({ raw: Buffer.from(latin1, 'latin1') });
    await expect(site.find()).rejects.toMatchObject({ reason: 'client-metadata-invalid' });
  });

  test('and the page repeats nothing of it', async () => {
    await using site = await startClientSite({ members: { client_name: 1, note: 'inner secret' } });
    await expect(site.find()).rejects.toMatchObject({
      explanation:
        'The metadata document of this client is not valid: client_name must be a string.',
    });
  });
});

describe('A document is cached', () => {
  const LIFETIMES: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
    ['for five minutes where nothing is said', {}, 5 * MINUTE],
    ['for as long as its server says', { 'cache-control': 'max-age=600' }, 10 * MINUTE],
    ['less the time it was under way', { 'cache-control': 'max-age=600', age: '240' }, 6 * MINUTE],
    [
      'until it expires',
      { expires: 'Sat, 21 Nov 2026 12:30:00 GMT', date: 'Sat, 21 Nov 2026 12:00:00 GMT' },
      30 * MINUTE,
    ],
    ['for a minute at least', { 'cache-control': 'max-age=0' }, MINUTE],
    ['for a day at most', { 'cache-control': 'max-age=31536000' }, DAY],
  ];

  for (const [title, headers, lifetimeMs] of LIFETIMES) {
    verifies('as.metadata-document-cached', title, async () => {
      await using site = await startClientSite({ headers });
      await site.find();
      site.answerWith({ headers, members: { client_name: 'Renamed' } });
      site.clock.now += lifetimeMs - 1;
      expect(await site.find()).toMatchObject({ metadata: { clientName: 'Files' } });
      site.clock.now += 1;
      expect(await site.find()).toMatchObject({ metadata: { clientName: 'Renamed' } });
      expect(site.server.requests).toHaveLength(2);
    });
  }

  verifies('as.metadata-document-cached', 'not at all where its server forbids it', async () => {
    await using site = await startClientSite({ headers: { 'cache-control': 'no-store' } });
    await site.find();
    await site.find();
    expect(site.server.requests).toHaveLength(2);
  });

  test('once for many requests at the same time', async () => {
    await using site = await startClientSite();
    await Promise.all([site.find(), site.find(), site.find()]);
    expect(site.server.requests).toHaveLength(1);
  });

  const FAILURES: readonly (readonly [string, Answer])[] = [
    ['an error', { status: 404, headers: { 'cache-control': 'max-age=600' } }],
    ['a malformed document', { raw: '{', headers: { 'cache-control': 'max-age=600' } }],
  ];

  for (const [title, answer] of FAILURES) {
    verifies('as.metadata-document-cached', `and ${title} never is`, async () => {
      await using site = await startClientSite(answer);
      await expect(site.find()).rejects.toMatchObject({ name: 'MetadataDocumentError' });
      site.answerWith({});
      expect(await site.find()).toMatchObject({ id: site.clientId });
    });
  }

  test('and carries its client over an outage of its website, for a day', async () => {
    await using site = await startClientSite();
    await site.find();
    site.answerWith({ status: 503 });
    site.clock.now += DAY - 1;
    expect(await site.authenticate({ client_id: site.clientId })).toMatchObject({
      id: site.clientId,
    });
    site.clock.now += MINUTE;
    await expect(site.find()).rejects.toMatchObject({ reason: 'client-metadata-unavailable' });
  });

  verifies(
    'as.metadata-document-cached',
    'and dropped as soon as its website takes it back',
    async () => {
      await using site = await startClientSite();
      await site.find();
      site.answerWith({ status: 404 });
      site.clock.now += 5 * MINUTE;
      await expect(site.find()).rejects.toMatchObject({ reason: 'client-metadata-invalid' });
    },
  );

  test('and a client whose website is down from the start is asked to come again', async () => {
    await using site = await startClientSite({ status: 503 });
    await expect(site.authenticate({ client_id: site.clientId })).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      status: 503,
    });
  });
});

describe('A client with keys in its document', () => {
  verifies(
    ['as.metadata-document-keys', 'as.client-authentication'],
    'authenticates with them, and only with them',
    async () => {
      const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
      await using site = await startClientSite({
        members: {
          token_endpoint_auth_method: 'private_key_jwt',
          jwks: { keys: [await exportJWK(publicKey)] },
        },
      });
      const form = await assertionForm(site, privateKey);
      expect(await site.authenticate(form)).toMatchObject({ id: site.clientId });
      await expect(site.authenticate({ client_id: site.clientId })).rejects.toMatchObject({
        code: 'invalid_client',
      });
    },
  );

  verifies(
    ['as.metadata-document-keys', 'as.client-keys-guarded'],
    'may keep the keys at another address of an allowed domain',
    async () => {
      const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
      await using site = await startClientSite();
      const keys = { keys: [await exportJWK(publicKey)] };
      const jwksUri = site.server.url('keys.clients.example', '/jwks');
      const members = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: jwksUri };
      // One answer for both: a document with `keys` beside its own members is a key set too.
      site.answerWith({ members: { ...members, ...keys } });
      expect(await site.authenticate(await assertionForm(site, privateKey))).toMatchObject({
        id: site.clientId,
      });
      expect(site.server.requests).toEqual(['/metadata.json', '/jwks']);
      expect(site.lookups).toEqual([HOST, 'keys.clients.example']);
    },
  );
});

async function assertionForm(
  { clientId, clock }: ClientSite,
  privateKey: CryptoKey,
): Promise<Readonly<Record<string, string>>> {
  const assertion = await new SignJWT({ jti: 'once' })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(ISSUER)
    .setExpirationTime(new Date(clock.now + MINUTE))
    .sign(privateKey);
  return {
    client_id: clientId,
    client_assertion: assertion,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  };
}
