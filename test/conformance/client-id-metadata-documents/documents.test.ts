import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import { startClientSite, type Answer, document } from '../../support/client-site.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

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
