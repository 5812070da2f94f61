import { describe, expect } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import { startAuthorizationServer } from '../../support/authorization-server.ts';
import { authorizationUrl } from '../../support/client-flow.ts';
import { startClientSite, SETTINGS } from '../../support/client-site.ts';

describe('The domain of a URL client ID', () => {
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
    ['it is on another domain', 'https://app.other.example/c', ['*.clients.example']],
    [
      'its domain only begins like an allowed one',
      'https://app.clients.example.evil.example/c',
      ['*.clients.example'],
    ],
    [
      'the allowed domain is its user name',
      'https://app.clients.example@evil.example/c',
      ['*.clients.example'],
    ],
    ['its domain ends in a dot', 'https://app.clients.example./c', ['*.clients.example']],
    ['it has an address', 'https://127.0.0.1/c', ['*.clients.example']],
    ['it has no domain', 'https://', ['*.clients.example']],
  ];

  for (const [title, clientId, allowedClientIdDomains] of REFUSED) {
    verifies(
      'client-id.domain-checked-first',
      `the gateway refuses a client ID without a request when ${title}`,
      () => expectRefused(clientId, allowedClientIdDomains),
    );
  }

  const BESIDE_A_WILDCARD: readonly (readonly [string, string])[] = [
    ['its domain is a wildcard’s without a subdomain', 'https://clients.example/c'],
    ['its domain only ends like an allowed one', 'https://evilclients.example/c'],
  ];

  for (const [title, clientId] of BESIDE_A_WILDCARD) {
    verifies(
      ['client-id.wildcard', 'client-id.domain-checked-first'],
      `the gateway refuses a client ID without a request when ${title}`,
      () => expectRefused(clientId, ['*.clients.example']),
    );
  }

  verifies('client-id.wildcard', 'a wildcard matches subdomains at any depth', async () => {
    await using site = await startClientSite();
    const allowedClientIdDomains = ['*.example'];
    expect(await site.find(site.clientId, { ...SETTINGS, allowedClientIdDomains })).not.toBeNull();
  });

  verifies(
    'client-id.domain-checked-first',
    'the gateway checks the domain of a client whose document is cached',
    async () => {
      await using site = await startClientSite();
      await site.find();
      await expect(
        site.find(site.clientId, { ...SETTINGS, allowedClientIdDomains: [] }),
      ).rejects.toMatchObject({ name: 'ClientIdDomainNotAllowedError' });
    },
  );

  verifies(
    'errors.client-id-domain-page',
    'the error page for a domain that is not allowed contains the client ID and the request id',
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

describe('The address of a metadata document', () => {
  const ADDRESSES: readonly (readonly [string, readonly string[]])[] = [
    ['a private address', ['10.0.0.1']],
    ['the metadata service of a cloud', ['169.254.169.254']],
    ['a private address beside a public one', ['8.8.8.8', '192.168.1.1']],
    ['loopback, which is not allowed here', ['127.0.0.1']],
  ];

  for (const [title, addresses] of ADDRESSES) {
    verifies(
      'as.metadata-document-guarded',
      `the gateway does not connect when the name resolves to ${title}`,
      async () => {
        await using site = await startClientSite({}, addresses);
        const settings = { ...SETTINGS, outboundAllowedCidrs: [] };
        await expect(site.find(site.clientId, settings)).rejects.toMatchObject({
          reason: 'client-metadata-invalid',
          explanation: 'The metadata document of this client could not be fetched.',
          cause: { name: 'OutboundRefusedError', kind: 'address' },
        });
        expect(site.server.requests).toEqual([]);
      },
    );
  }

  for (const status of [301, 302, 303, 307, 308]) {
    verifies(
      'as.metadata-document-guarded',
      `the gateway does not follow a redirect with status ${String(status)}`,
      async () => {
        await using site = await startClientSite();
        site.answerWith({ status, headers: { location: `${site.clientId}?again` } });
        await expect(site.find()).rejects.toMatchObject({ reason: 'client-metadata-invalid' });
        expect(site.server.requests).toEqual(['/metadata.json']);
      },
    );
  }
});
