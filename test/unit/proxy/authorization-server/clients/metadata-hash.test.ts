import { describe, expect, test } from '@jest/globals';

import type { Client, ClientMetadata } from '../../../../../proxy/records/client.ts';
import { metadataHash } from '../../../../../proxy/authorization-server/clients/metadata-hash.ts';

const METADATA: ClientMetadata = {
  clientName: 'Client',
  redirectUris: ['https://client.example/a', 'https://client.example/b'],
  tokenEndpointAuthMethod: 'private_key_jwt',
  grantTypes: ['authorization_code'],
  jwksUri: 'https://client.example/keys',
};

function client(changes: Partial<ClientMetadata> = {}): Client {
  return {
    id: 'https://client.example/c',
    source: 'metadata-document',
    metadata: { ...METADATA, ...changes },
  };
}

describe('metadataHash', () => {
  test.each<[string, Client]>([
    ['the name', client({ clientName: 'Other' })],
    ['the link', client({ clientUri: 'https://client.example/' })],
    [
      'a redirect URI',
      client({ redirectUris: ['https://client.example/a', 'https://evil.example/b'] }),
    ],
    [
      'one redirect URI more',
      client({ redirectUris: [...METADATA.redirectUris, 'https://c.example/'] }),
    ],
    ['the way to authenticate', client({ tokenEndpointAuthMethod: 'none' })],
    ['the grant types', client({ grantTypes: ['authorization_code', 'refresh_token'] })],
    ['the scope', client({ scope: 'all' })],
    ['where it comes from', { ...client(), source: 'registration' }],
  ])('changes when a client changes %s', (_title, changed) => {
    expect(metadataHash(changed)).not.toBe(metadataHash(client()));
  });

  test.each<[string, Client]>([
    ['nothing', client()],
    ['the order of redirect URIs', client({ redirectUris: [...METADATA.redirectUris].reverse() })],
    ['its keys', client({ jwksUri: 'https://client.example/new-keys' })],
  ])('does not change when a client changes %s', (_title, changed) => {
    expect(metadataHash(changed)).toBe(metadataHash(client()));
  });
});
