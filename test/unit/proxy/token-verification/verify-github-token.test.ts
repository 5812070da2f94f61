import { describe, expect, test } from '@jest/globals';

import { ProviderCalls } from '../../../../proxy/identity-provider/provider-calls.ts';
import { GatewayError } from '../../../../proxy/errors/gateway-error.ts';
import { TokenVerifier } from '../../../../proxy/token-verification/token-verifier.ts';
import type { CompiledIdentityProvider } from '../../../../shared/snapshot/snapshot.ts';
import type { GithubState } from '../../../support/github/github-state.ts';
import { startGithub } from '../../../support/github/github.ts';
import { startUpstream } from '../../../support/upstream.ts';

const TOKEN = 'gho_of-octocat';

/** A fake GitHub with a token of octocat, and a verifier. */
async function setUp(kind?: GithubState['kind']) {
  const github = await startGithub(kind);
  github.accessTokens.set(TOKEN, { login: 'octocat', scopes: ['user:email'] });
  const discovery = {
    calls: new ProviderCalls(),
    clientOf: () => Promise.reject(new Error('GitHub has no discovery')),
  };
  const verifier = new TokenVerifier({ discovery, devAllowLoopback: true, now: Date.now });
  const { webUrl: issuer, apiUrl, clientId, clientSecret } = github;
  const compiled: CompiledIdentityProvider = {
    ...{ kind: 'identity-provider', name: 'github', type: 'github', signIn: true },
    ...{ issuer, apiUrl, clientId, clientSecret, authorizationParams: {} },
  };
  const verify = (token = TOKEN, changes: object = {}, audiences?: readonly string[]) => {
    const list = audiences === undefined ? {} : { allowedAudiences: audiences };
    const provider = { ...compiled, ...changes };
    const providers = { find: () => provider, all: () => [provider] };
    return verifier.verify(token, { format: 'idp_access_token', ...list }, providers);
  };
  const reason = async (...args: Parameters<typeof verify>): Promise<string> => {
    const error: unknown = await verify(...args).catch((thrown: unknown) => thrown);
    return error instanceof GatewayError ? error.reason : 'no refusal';
  };
  return { github, verify, reason, [Symbol.asyncDispose]: () => github[Symbol.asyncDispose]() };
}

const UNAVAILABLE = 'identity-provider-unavailable';

describe('an access token of GitHub', () => {
  test('identifies the user as sign-in does', async () => {
    await using world = await setUp();

    expect(await world.verify()).toMatchObject({
      identity: { provider: 'github', subject: '583231', email: 'alice@example.com' },
      ...{ expiresAt: Infinity, isOpaque: true },
    });
    // Never in a URL.
    expect(world.github.requests.join()).not.toContain(TOKEN);
  });

  test('ends when GitHub says it, if it is of a GitHub App', async () => {
    await using world = await setUp('github-app');

    const { expiresAt } = await world.verify();
    expect(expiresAt).toBeGreaterThan(Date.now() + 28_000_000);
    expect(expiresAt).toBeLessThan(Date.now() + 29_000_000);
  });

  test('is refused if GitHub does not know it', async () => {
    await using world = await setUp();

    expect(await world.reason('gho_of-nobody')).toBe('inactive-token');
    world.github.accessTokens.delete(TOKEN);
    expect(await world.reason()).toBe('inactive-token');
  });

  test.each([
    ['its user is another one than that of the check', { user: { id: 2 } }, 'other-subject'],
    ['it has expired', { expires_at: '2020-01-01T00:00:00Z' }, 'token-expired'],
    ['the check is of another app', { app: { client_id: 'other' } }, UNAVAILABLE],
    ['the check does not say when it ends', { expires_at: 'soon' }, UNAVAILABLE],
  ])('is refused if %s', async (_what, changes, expected) => {
    await using world = await setUp();
    const { clientId } = world.github;
    const check = { app: { client_id: clientId }, user: { id: 1 }, expires_at: null, ...changes };
    await using api = await startUpstream((message, response) => {
      const user = message.url === '/user' ? { id: 1, login: 'octocat' } : [];
      response.end(JSON.stringify(message.method === 'POST' ? check : user));
    });

    expect(await world.reason(TOKEN, { apiUrl: api.origin })).toBe(expected);
  });

  // GitHub answers who its user is, whichever app asks.
  test('of another app is refused although GitHub accepts it', async () => {
    await using world = await setUp();
    await using api = await startUpstream((message, response) => {
      response.statusCode = message.method === 'POST' ? 404 : 200;
      response.end(JSON.stringify(message.url === '/user' ? { id: 1, login: 'octocat' } : []));
    });

    expect(await world.reason(TOKEN, { apiUrl: api.origin })).toBe('inactive-token');
  });

  test('is refused where there is a list of audiences, without asking', async () => {
    await using world = await setUp();

    expect(await world.reason(TOKEN, {}, ['api'])).toBe('no-audience');
    expect(world.github.requests).toEqual([]);
  });

  test('is refused if it may not read the addresses of its user', async () => {
    await using world = await setUp();
    world.github.accessTokens.set(TOKEN, { login: 'octocat', scopes: [] });

    expect(await world.reason()).toBe('claims-left-out');
  });

  test('cannot be verified while GitHub does not answer, or with a wrong secret', async () => {
    await using world = await setUp();

    expect(await world.reason(TOKEN, { clientSecret: 'wrong' })).toBe(UNAVAILABLE);
    world.github.isLimited = true;
    expect(await world.reason()).toBe(UNAVAILABLE);
    expect(await world.reason(TOKEN, { apiUrl: 'http://127.0.0.1:1' })).toBe(UNAVAILABLE);
  });
});
