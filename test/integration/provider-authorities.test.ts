import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  authorizationCodeGrant,
  calculatePKCECodeChallenge,
  fetchProtectedResource,
} from 'openid-client';

import { identify } from '../../proxy/identity-provider/identity-provider.ts';
import { lookUpLeftOutGroups } from '../../proxy/identity-provider/look-up-groups.ts';
import { ProviderDiscovery } from '../../proxy/identity-provider/provider-discovery.ts';
import type { SignInProvider } from '../../proxy/identity-provider/require-identity-provider.ts';
import { ProviderKeys } from '../../proxy/token-verification/provider-keys.ts';
import type { VerificationContext } from '../../proxy/token-verification/verified-token.ts';
import { verifyGithubToken } from '../../proxy/token-verification/verify-github-token.ts';
import { startGithub, type TestGithub } from '../support/github/github.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts';
import { createThrowawayAuthority } from '../support/throwaway-authority.ts';
import { startTlsEdge, type TlsEdge } from '../support/tls-edge.ts';
import { startUpstream } from '../support/upstream.ts';

const options = { devAllowLoopback: false, now: () => Date.now() };

const contextOf = (discovery: ProviderDiscovery): VerificationContext => ({
  ...{ ...options, discovery, keys: new ProviderKeys({ ...options, discovery }) },
});

const noAuthorities = { certificateAuthorities: createThrowawayAuthority().ca };

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

describe('a look-up of groups at a provider with a private certificate authority', () => {
  const left = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: {} } };

  test.each([
    ['trusts a server with a certificate of that authority', true, ['staff']],
    ['refuses any other, and sends it no token', false, undefined],
  ])('%s', async (_what, isOfAuthority, groups) => {
    const authority = createThrowawayAuthority();
    const place = { address: '127.0.0.1', port: 0, authority };
    await using edge = await startTlsEdge(['localhost'], place);
    await using identityProvider = await startIdentityProvider({
      origin: edge.originOf('localhost'),
    });
    edge.pass('localhost', identityProvider.port);
    await using endpoint = await startUpstream((_message, response) => {
      response.end(JSON.stringify({ value: [{ id: 'staff' }] }));
    });
    await using groupsEdge = await startTlsEdge(
      ['localhost'],
      isOfAuthority ? place : { address: '127.0.0.1', port: 0 },
    );
    groupsEdge.pass('localhost', endpoint.port);
    const client = await new ProviderDiscovery(options).clientOf({
      ...{ ...identityProvider.compiled(), certificateAuthorities: authority.ca },
    });
    const url = `${groupsEdge.originOf('localhost')}/me/groups`;
    const groupsLookup = { url, groupsPath: ['value', 'id'], nextPage: '@odata.nextLink' };
    const found = lookUpLeftOutGroups(client, 'the-token', [left], { groupsLookup });

    await expect(found.catch(() => undefined)).resolves.toEqual(groups);
    expect(endpoint.requests).toHaveLength(isOfAuthority ? 1 : 0);
  });
});

/** GitHub Enterprise Server has a certificate of the company more often than not. */
describe('a GitHub with a private certificate authority', () => {
  const secrets = { state: 'state', nonce: 'nonce', codeVerifier: 'v'.repeat(43) };
  const callback = new URL('https://auth.example.com/.gateway/callback/github?code=the-code');
  let edge: TlsEdge;
  let github: TestGithub;

  beforeEach(async () => {
    edge = await startTlsEdge(['localhost']);
    github = await startGithub();
    edge.pass('localhost', Number(new URL(github.webUrl).port));
    github.codes.set('the-code', {
      ...{ login: 'octocat', scopes: ['user:email'] },
      redirectUri: callback.origin + callback.pathname,
      challenge: await calculatePKCECodeChallenge(secrets.codeVerifier),
    });
  });

  afterEach(async () => {
    await github[Symbol.asyncDispose]();
    await edge[Symbol.asyncDispose]();
  });

  const provider = (certificateAuthorities?: string): SignInProvider => {
    const issuer = edge.originOf('localhost');
    const { clientId, clientSecret } = github;
    return {
      ...{ kind: 'identity-provider', name: 'github', type: 'github', signIn: true },
      ...{ issuer, apiUrl: `${issuer}/api/v3`, clientId, clientSecret },
      authorizationParams: {},
      ...(certificateAuthorities !== undefined && { certificateAuthorities }),
    };
  };

  test('is trusted with it, for users who sign in and for access tokens', async () => {
    const discovery = new ProviderDiscovery(options);
    const { accessToken = '', claimed } = await identify(
      provider(edge.ca),
      discovery,
      callback,
      secrets,
    );
    expect(claimed).toMatchObject({ identity: { email: 'alice@example.com' } });

    const use = { provider: provider(edge.ca), allowedAudiences: undefined };
    const verified = await verifyGithubToken(accessToken, use, contextOf(discovery));
    expect(verified.identity.email).toBe('alice@example.com');
  });

  test.each([
    ['without it', {}],
    ['with another one', noAuthorities],
  ])('gets no code and no token %s', async (_what, authorities) => {
    const discovery = new ProviderDiscovery(options);
    const untrusted = { ...provider(), ...authorities };
    await expect(identify(untrusted, discovery, callback, secrets)).rejects.toThrow();
    const use = { provider: untrusted, allowedAudiences: undefined };
    const verified = verifyGithubToken('gho_token', use, contextOf(discovery));
    await expect(verified).rejects.toThrow();
    expect(github.requests).toEqual([]);
  });
});
