import { describe, expect, test } from '@jest/globals';

import type { Client } from '../../../../../proxy/oauth/clients/client.ts';
import { createFindClient } from '../../../../../proxy/oauth/clients/find-client.ts';
import { UNUSED_CLIENT_SECONDS } from '../../../../../proxy/oauth/clients/unused-client-lifetime.ts';
import { createMemoryStores } from '../../../../../proxy/store/memory/memory-stores.ts';
import type { CompiledSettings } from '../../../../../shared/snapshot/snapshot.ts';
import { compiledSettings } from '../../../../support/compiled-settings.ts';
import { verifies } from '../../../../support/verifies.ts';

const ISSUER = 'https://mcp.example.com';
const SETTINGS = compiledSettings();
const METADATA = {
  redirectUris: ['https://client.example/callback'],
  tokenEndpointAuthMethod: 'none',
  grantTypes: ['authorization_code'],
} as const;

function setUp() {
  let now = 0;
  const { clients } = createMemoryStores(() => now);
  const asked: string[] = [];
  const findClient = createFindClient({
    clients,
    readMetadataDocument: (clientId): Promise<Client> => {
      asked.push(clientId);
      return Promise.resolve({ id: clientId, source: 'metadata-document', metadata: METADATA });
    },
  });
  const advance = (seconds: number): void => {
    now += seconds * 1000;
  };
  return { clients, findClient, asked, advance };
}

describe('findClient', () => {
  test('finds a registered client at its issuer', async () => {
    const { clients, findClient, asked } = setUp();
    await clients.register(
      { id: 'c1', issuer: ISSUER, metadata: METADATA, secretHash: 'hash', registeredAt: 0 },
      UNUSED_CLIENT_SECONDS,
    );
    expect(await findClient(ISSUER, 'c1', SETTINGS)).toEqual({
      id: 'c1',
      source: 'registration',
      metadata: METADATA,
      secretHash: 'hash',
    });
    expect(asked).toEqual([]);
  });

  verifies('as.bound-to-issuer', 'does not find it at another issuer', async () => {
    const { clients, findClient } = setUp();
    await clients.register(
      { id: 'c1', issuer: ISSUER, metadata: METADATA, registeredAt: 0 },
      UNUSED_CLIENT_SECONDS,
    );
    expect(await findClient('https://other.example.com', 'c1', SETTINGS)).toBeNull();
  });

  test('finds nothing under an unknown id', async () => {
    expect(await setUp().findClient(ISSUER, 'unknown', SETTINGS)).toBeNull();
  });

  const LIVES: readonly (readonly [string, CompiledSettings, number])[] = [
    ['thirty days', SETTINGS, UNUSED_CLIENT_SECONDS],
    [
      'the life of its refresh tokens, where that is longer',
      compiledSettings({ tokens: { ...SETTINGS.tokens, refreshTokenSeconds: 90 * 86_400 } }),
      90 * 86_400,
    ],
  ];

  for (const [title, settings, seconds] of LIVES) {
    verifies('as.registration-expires', `lets a client live on for ${title}`, async () => {
      const { clients, findClient, advance } = setUp();
      await clients.register({ id: 'c1', issuer: ISSUER, metadata: METADATA, registeredAt: 0 }, 10);
      await findClient(ISSUER, 'c1', settings);
      advance(seconds - 1);
      expect(await clients.get(ISSUER, 'c1')).not.toBeNull();
      advance(1);
      expect(await clients.get(ISSUER, 'c1')).toBeNull();
    });
  }

  test('reads the metadata document of a URL', async () => {
    const { findClient, asked } = setUp();
    const id = 'https://client.example/metadata.json';
    expect(await findClient(ISSUER, id, SETTINGS)).toMatchObject({
      id,
      source: 'metadata-document',
    });
    expect(asked).toEqual([id]);
  });
});
