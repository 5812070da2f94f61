import { describe, expect, test } from '@jest/globals';

import { hashToken } from '../../../../../proxy/crypto/tokens.ts';
import type { Client } from '../../../../../proxy/records/client.ts';
import { createFindClient } from '../../../../../proxy/authorization-server/clients/find-client.ts';
import { createMemoryStores } from '../../../../../proxy/store/memory/memory-stores.ts';
import { compiledSettings } from '../../../../support/compiled-settings.ts';
import { verifies } from '../../../../requirements/verifies.ts';

const ISSUER = 'https://mcp.example.com';
const SETTINGS = compiledSettings();
const DAY = 86_400;
const METADATA = {
  redirectUris: ['https://client.example/callback'],
  tokenEndpointAuthMethod: 'none',
  grantTypes: ['authorization_code'],
} as const;

function setUp() {
  const { clients } = createMemoryStores();
  const asked: string[] = [];
  const findClient = createFindClient({
    clients,
    readMetadataDocument: (clientId): Promise<Client> => {
      asked.push(clientId);
      return Promise.resolve({ id: clientId, source: 'metadata-document', metadata: METADATA });
    },
  });
  return { clients, findClient, asked };
}

describe('findClient', () => {
  test('finds a registered client at its issuer', async () => {
    const { clients, findClient, asked } = setUp();
    await clients.register(
      {
        id: 'c1',
        issuer: ISSUER,
        metadata: METADATA,
        secretHash: hashToken('secret'),
        registeredAt: 0,
      },
      DAY,
    );
    expect(await findClient(ISSUER, 'c1', SETTINGS)).toEqual({
      id: 'c1',
      source: 'registration',
      metadata: METADATA,
      secretHash: hashToken('secret'),
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
