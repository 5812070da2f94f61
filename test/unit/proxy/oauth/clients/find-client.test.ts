import { describe, expect, test } from '@jest/globals';

import type { Client } from '../../../../../proxy/oauth/clients/client.ts';
import { createFindClient } from '../../../../../proxy/oauth/clients/find-client.ts';
import { createMemoryStores } from '../../../../../proxy/store/memory/memory-stores.ts';
import type { CompiledSettings } from '../../../../../shared/snapshot/snapshot.ts';
import { compiledSettings } from '../../../../support/compiled-settings.ts';
import { verifies } from '../../../../support/verifies.ts';

const ISSUER = 'https://mcp.example.com';
const SETTINGS = compiledSettings();
const DAY = 86_400;
const METADATA = {
  redirectUris: ['https://client.example/callback'],
  tokenEndpointAuthMethod: 'none',
  grantTypes: ['authorization_code'],
} as const;

function lives({ unused, refreshToken }: Record<'unused' | 'refreshToken', number>) {
  const tokens = { ...SETTINGS.tokens, refreshTokenSeconds: refreshToken };
  return compiledSettings({ unusedClientSeconds: unused, tokens });
}

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
      DAY,
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
    await clients.register({ id: 'c1', issuer: ISSUER, metadata: METADATA, registeredAt: 0 }, DAY);
    expect(await findClient('https://other.example.com', 'c1', SETTINGS)).toBeNull();
  });

  test('finds nothing under an unknown id', async () => {
    expect(await setUp().findClient(ISSUER, 'unknown', SETTINGS)).toBeNull();
  });

  const LIVES: readonly (readonly [string, CompiledSettings, number])[] = [
    ['as long as the settings say', lives({ unused: 40 * DAY, refreshToken: DAY }), 40 * DAY],
    [
      'the life of its refresh tokens, where that is longer',
      lives({ unused: DAY, refreshToken: 90 * DAY }),
      90 * DAY,
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
