import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { authorizationCodeGrant, fetchProtectedResource } from 'openid-client';

import { ProviderDiscovery } from '../../proxy/identity-provider/provider-discovery.ts';
import type { SignInProvider } from '../../proxy/identity-provider/require-identity-provider.ts';
import { ProviderKeys } from '../../proxy/token-verification/provider-keys.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts';
import { createThrowawayAuthority } from '../support/throwaway-authority.ts';
import { startTlsEdge, type TlsEdge } from '../support/tls-edge.ts';

const options = { devAllowLoopback: false, now: () => Date.now() };

/** A real OpenID provider, whose server has a certificate of an authority that nobody knows. */
describe('an identity provider with a private certificate authority', () => {
  let edge: TlsEdge;
  let identityProvider: TestIdentityProvider;

  beforeAll(async () => {
    edge = await startTlsEdge(['localhost']);
    identityProvider = await startIdentityProvider({ origin: edge.originOf('localhost') });
    edge.pass('localhost', identityProvider.port);
  });

  afterAll(async () => {
    await identityProvider[Symbol.asyncDispose]();
    await edge[Symbol.asyncDispose]();
  });

  const provider = (certificateAuthorities?: string): SignInProvider => ({
    ...identityProvider.compiled(),
    ...(certificateAuthorities !== undefined && { certificateAuthorities }),
  });

  test('is trusted with it, for discovery, tokens and what access tokens get', async () => {
    const client = await new ProviderDiscovery(options).clientOf(provider(edge.ca));
    expect(client.serverMetadata().issuer).toBe(identityProvider.issuer);

    // What it answers shows that the request arrived.
    const callback = new URL('https://app.example.com/.gateway/callback?code=x');
    callback.searchParams.set('iss', identityProvider.issuer);
    await expect(authorizationCodeGrant(client, callback)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    const userinfo = new URL(client.serverMetadata().userinfo_endpoint ?? '');
    await expect(fetchProtectedResource(client, 'x', userinfo, 'GET')).rejects.toMatchObject({
      status: 401,
    });
  });

  test('gives its keys', async () => {
    const keys = new ProviderKeys({ ...options, discovery: new ProviderDiscovery(options) });
    const { kid = '' } = identityProvider.keys[0].publicJwk;
    const key = keys
      .of(provider(edge.ca))
      .keyOf({ alg: 'RS256', kid }, { payload: '', signature: '' });

    expect(await key).toBeDefined();
  });

  test.each([
    ['without it', undefined],
    ['with another one', createThrowawayAuthority().ca],
  ])('is not trusted %s', async (_what, authorities) => {
    const discovery = new ProviderDiscovery(options);
    await expect(discovery.clientOf(provider(authorities))).rejects.toThrow();
    const keys = new ProviderKeys({ ...options, discovery });
    const set = keys.of(provider(authorities), `${identityProvider.issuer}/jwks`);
    const key = set.keyOf({ alg: 'RS256', kid: 'x' }, { payload: '', signature: '' });
    await expect(key).rejects.toThrow();
  });

  test('is trusted again once the settings have the right authority', async () => {
    const discovery = new ProviderDiscovery(options);
    const wrong = provider(createThrowawayAuthority().ca);
    await expect(discovery.clientOf(wrong)).rejects.toThrow();

    expect(await discovery.clientOf(provider(edge.ca))).toBeDefined();
  });
});
