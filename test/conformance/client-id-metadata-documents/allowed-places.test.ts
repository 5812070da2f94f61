import { describe, expect } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import { startAuthorizationServer } from '../../support/authorization-server.ts';
import { authorizationUrl } from '../../support/client-flow.ts';
import { startClientSite, SETTINGS } from '../../support/client-site.ts';

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
