import { describe, expect, test } from '@jest/globals';

import { startGithubWorld, type GithubWorld } from '../support/github/github-world.ts';
import { errorIn, refresh, tokensIn } from '../support/session-world.ts';
import { callMcp, signInClient, type SignedInClient } from '../support/signed-in-client.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const TOKEN_REQUEST = 'POST /login/oauth/access_token';

function signInOctocat({ mcp }: GithubWorld): Promise<SignedInClient> {
  return signInClient(mcp, { login: 'octocat' });
}

async function statusWith({ mcp }: GithubWorld, token: string): Promise<number> {
  return (await callMcp(mcp, token, PING)).status;
}

function lastSignInEnd({ gateway }: GithubWorld): unknown {
  return gateway.logs().findLast(({ event }) => event === 'sign-in-ended')?.['reason'];
}

describe.each(['oauth-app', 'github-app'] as const)(
  'The session of a user of an app (%s)',
  (kind) => {
    test('is renewed for MCP clients, more than once', async () => {
      await using world = await startGithubWorld(kind);
      const client = await signInOctocat(world);
      let { refreshToken } = client;
      for (let count = 0; count < 2; count += 1) {
        world.expireSessions();
        const tokens = tokensIn(await refresh(client, { token: refreshToken }));
        expect(await statusWith(world, tokens.accessToken)).toBe(200);
        ({ refreshToken } = tokens);
      }
    });

    test('is not renewed after the user revoked the app, and the sign-in is over', async () => {
      await using world = await startGithubWorld(kind);
      const client = await signInOctocat(world);
      world.github.accessTokens.clear();
      world.github.refreshTokens.clear();
      world.expireSessions();

      expect(errorIn(await refresh(client))).toEqual({ status: 400, error: 'invalid_grant' });
      expect(lastSignInEnd(world)).toBe('invalid-grant');
    });

    test('is not renewed after the account was deleted', async () => {
      await using world = await startGithubWorld(kind);
      const client = await signInOctocat(world);
      world.github.accounts.delete('octocat');
      world.expireSessions();

      expect(errorIn(await refresh(client))).toEqual({ status: 400, error: 'invalid_grant' });
    });

    test('is renewed later if GitHub limits the rate', async () => {
      await using world = await startGithubWorld(kind);
      const client = await signInOctocat(world);
      world.github.isLimited = true;
      world.expireSessions();

      expect((await refresh(client)).status).toBe(503);
      expect(lastSignInEnd(world)).toBeUndefined();
      world.github.isLimited = false;
      // A renewal that failed is not tried again for two seconds.
      world.expireSessions();
      expect((await refresh(client)).status).toBe(200);
    });
  },
);

test('a token that does not expire is used again, and one that does is replaced', async () => {
  for (const [kind, expected] of [
    ['oauth-app', 0],
    ['github-app', 1],
  ] as const) {
    await using world = await startGithubWorld(kind);
    const client = await signInOctocat(world);
    const { requests } = world.github;
    requests.length = 0;
    world.expireSessions();
    await refresh(client);

    expect(requests.filter((each) => each === TOKEN_REQUEST)).toHaveLength(expected);
    expect(requests.slice(expected)).toEqual(['GET /api/v3/user', 'GET /api/v3/user/emails']);
  }
});

test('a user whose address is not verified any more has none after the renewal', async () => {
  await using world = await startGithubWorld();
  const client = await signInOctocat(world);
  const account = world.github.accounts.get('octocat');
  if (account === undefined) throw new Error('there is an octocat');
  world.github.accounts.set('octocat', { ...account, emails: [] });
  world.expireSessions();
  const { accessToken } = tokensIn(await refresh(client));
  await statusWith(world, accessToken);

  const assertion = world.lastRequest()?.message.headers['x-gateway-assertion']?.toString() ?? '';
  const claims = Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString();
  expect(JSON.parse(claims)).not.toHaveProperty('email');
});
