import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import { startClientSite, type Answer, document } from '../../support/client-site.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('The contents of a metadata document', () => {
  const NOT_A_DOCUMENT: readonly (readonly [string, Answer])[] = [
    ['with status 201', { status: 201 }],
    ['with status 404', { status: 404 }],
    ['as a web page', { headers: { 'content-type': 'text/html' } }],
    ['as text', { headers: { 'content-type': 'text/plain' } }],
    ['that is not JSON', { raw: '{"client_id":' }],
    ['that is a list', { raw: '[]' }],
    ['of another client', { members: { client_id: 'https://app.clients.example/other.json' } }],
    [
      'with another spelling of its URL',
      { members: { client_id: 'https://APP.clients.example/metadata.json' } },
    ],
    ['without a client ID', { members: { client_id: undefined } }],
    ['without a name', { members: { client_name: undefined } }],
    ['with a name that cannot be seen', { members: { client_name: '\u200b' } }],
    ['without redirect URIs', { members: { redirect_uris: undefined } }],
    ['with an empty list of redirect URIs', { members: { redirect_uris: [] } }],
    ['with a redirect URI that runs code', { members: { redirect_uris: ['javascript:alert(1)'] } }],
    [
      'with a redirect URI on http',
      { members: { redirect_uris: ['http://app.clients.example/'] } },
    ],
    ['with a secret', { members: { client_secret: 's3cret' } }],
    ['with the expiry of a secret', { members: { client_secret_expires_at: 0 } }],
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
    verifies('as.metadata-document-checked', `a document ${title} is refused`, async () => {
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

  verifies('as.metadata-document-checked', 'a document that is not UTF-8 is refused', async () => {
    await using site = await startClientSite();
    const latin1 = JSON.stringify({ ...document(site.clientId), client_name: 'Dönerladen' });
    site.answerWith({ raw: Buffer.from(latin1, 'latin1') });
    await expect(site.find()).rejects.toMatchObject({ reason: 'client-metadata-invalid' });
  });

  test('a document with a duplicate key is refused', async () => {
    await using site = await startClientSite();
    const text = JSON.stringify(document(site.clientId));
    site.answerWith({ raw: Buffer.from(`{"client_name":"Your bank",${text.slice(1)}`) });
    await expect(site.find()).rejects.toMatchObject({
      reason: 'client-metadata-invalid',
      explanation: 'The metadata document of this client has a duplicate key.',
    });
  });

  test('the error page repeats nothing of the document', async () => {
    await using site = await startClientSite({ members: { client_name: 1, note: 'inner secret' } });
    await expect(site.find()).rejects.toMatchObject({
      explanation:
        'The metadata document of this client is not valid: client_name must be a string.',
    });
  });
});

describe('The cache of metadata documents', () => {
  const LIFETIMES: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
    ['for five minutes without caching headers', {}, 5 * MINUTE],
    ['for the max-age of its server', { 'cache-control': 'max-age=600' }, 10 * MINUTE],
    ['for its max-age less its age', { 'cache-control': 'max-age=600', age: '240' }, 6 * MINUTE],
    [
      'until it expires',
      { expires: 'Sat, 21 Nov 2026 12:30:00 GMT', date: 'Sat, 21 Nov 2026 12:00:00 GMT' },
      30 * MINUTE,
    ],
    ['for a minute at least', { 'cache-control': 'max-age=0' }, MINUTE],
    ['for a day at most', { 'cache-control': 'max-age=31536000' }, DAY],
  ];

  for (const [title, headers, lifetimeMs] of LIFETIMES) {
    verifies('as.metadata-document-cached', `a document is cached ${title}`, async () => {
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

  verifies(
    'as.metadata-document-cached',
    'a document is not cached if its server forbids it',
    async () => {
      await using site = await startClientSite({ headers: { 'cache-control': 'no-store' } });
      await site.find();
      await site.find();
      expect(site.server.requests).toHaveLength(2);
    },
  );

  test('a document is fetched once for many requests at the same time', async () => {
    await using site = await startClientSite();
    await Promise.all([site.find(), site.find(), site.find()]);
    expect(site.server.requests).toHaveLength(1);
  });

  const FAILURES: readonly (readonly [string, Answer])[] = [
    ['an error', { status: 404, headers: { 'cache-control': 'max-age=600' } }],
    ['a malformed document', { raw: '{', headers: { 'cache-control': 'max-age=600' } }],
  ];

  for (const [title, answer] of FAILURES) {
    verifies('as.metadata-document-cached', `${title} is never cached`, async () => {
      await using site = await startClientSite(answer);
      await expect(site.find()).rejects.toMatchObject({ name: 'MetadataDocumentError' });
      site.answerWith({});
      expect(await site.find()).toMatchObject({ id: site.clientId });
    });
  }

  test('a cached document serves its client for a day while the website is down', async () => {
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
    'a cached document is dropped when its website no longer has it',
    async () => {
      await using site = await startClientSite();
      await site.find();
      site.answerWith({ status: 404 });
      site.clock.now += 5 * MINUTE;
      await expect(site.find()).rejects.toMatchObject({ reason: 'client-metadata-invalid' });
    },
  );

  test('the token endpoint answers 503 if the website of a client was never reachable', async () => {
    await using site = await startClientSite({ status: 503 });
    await expect(site.authenticate({ client_id: site.clientId })).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      status: 503,
    });
  });
});
