import { expect, test } from '@jest/globals';
import { Configuration } from 'openid-client';

import { ProviderCalls } from '../../../../proxy/identity-provider/provider-calls.ts';
import { ProviderKeys } from '../../../../proxy/token-verification/provider-keys.ts';
import type { CompiledIdentityProvider } from '../../../../shared/snapshot/snapshot.ts';
import { issuerKey } from '../../../support/token-issuer.ts';
import { startUpstream } from '../../../support/upstream.ts';

const PROVIDER: CompiledIdentityProvider = {
  ...{ kind: 'identity-provider', name: 'test', signIn: true, authorizationParams: {} },
  issuer: 'https://id.example',
};

const HEADER = { alg: 'ES256', kid: 'key-1' };

/** Asks for a key of a provider whose discovery names a URL of keys. */
async function askAt(jwksUri: string, devAllowLoopback: boolean): Promise<unknown> {
  const client = new Configuration({ issuer: PROVIDER.issuer, jwks_uri: jwksUri }, 'gateway');
  const discovery = { calls: new ProviderCalls(), clientOf: () => Promise.resolve(client) };
  const keys = new ProviderKeys({ discovery, devAllowLoopback, now: Date.now });
  return keys.of(PROVIDER).keyOf(HEADER, { payload: '', signature: '' });
}

// Attack: whoever can change the keys on their way can sign tokens.
test('the keys of a provider are fetched by http only on loopback, in development', async () => {
  const { publicJwk } = await issuerKey();
  await using upstream = await startUpstream((_message, response) => {
    response.end(JSON.stringify({ keys: [publicJwk] }));
  });
  const refusal = 'the keys of the provider are not at an https URL';

  await expect(askAt(upstream.origin, false)).rejects.toThrow(refusal);
  await expect(askAt('http://192.0.2.1/keys', true)).rejects.toThrow(refusal);
  expect(upstream.requests).toHaveLength(0);
  expect(await askAt(upstream.origin, true)).toMatchObject({ type: 'public' });
});
