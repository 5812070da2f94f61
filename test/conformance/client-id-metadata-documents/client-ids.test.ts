import { describe, expect } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { verifies } from '../../requirements/verifies.ts';
import { ISSUER } from '../../support/authorization-server.ts';
import { startClientSite, type ClientSite, document, HOST } from '../../support/client-site.ts';

const MINUTE = 60_000;

describe('A client ID that is a URL', () => {
  verifies(
    'client-id.url',
    'a URL client ID stands for the client that its document describes',
    async () => {
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
    },
  );

  verifies(
    ['client-id.url', 'as.client-authentication'],
    'a client with a URL client ID is public unless its document says otherwise',
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
    verifies('client-id.url', `a metadata document may have the media type ${type}`, async () => {
      await using site = await startClientSite({ headers: { 'content-type': type } });
      expect(await site.find()).toMatchObject({ id: site.clientId });
    });
  }

  verifies(
    'as.metadata-document-size',
    'a metadata document may have five kilobytes and not one byte more',
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

describe('A malformed URL client ID', () => {
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
    verifies(
      'as.metadata-document-url',
      `a client ID that ${title} is refused without a request`,
      async () => {
        await using site = await startClientSite();
        await expect(site.find(clientId)).rejects.toMatchObject({
          reason: 'client-metadata-invalid',
        });
        expect(site.lookups).toEqual([]);
      },
    );
  }
});

describe('A client with keys in its document', () => {
  verifies(
    ['as.metadata-document-keys', 'as.client-authentication'],
    'a client with keys in its document authenticates with them and with nothing else',
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
    'a document may name keys at another URL of an allowed domain',
    async () => {
      const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
      await using site = await startClientSite();
      const keys = { keys: [await exportJWK(publicKey)] };
      const jwksUri = site.server.url('keys.clients.example', '/jwks');
      const members = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: jwksUri };
      // The same body for both URLs: a document with a member `keys` is a key set too.
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
