import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';

import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import { startGithubWorld, type GithubWorld } from '../support/github/github-world.ts';
import { OCTOCAT } from '../support/github/github-state.ts';

const OCTOCAT_ID = String(OCTOCAT.id);

let world: GithubWorld;

beforeEach(async () => {
  world = await startGithubWorld();
});

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

async function signIn(login = 'octocat', browser = new BrowserJar()): Promise<BrowserPage> {
  const page = await browser.open(world.app);
  return page.forms.length === 0 ? page : browser.submit(page, { login });
}

/** What the upstream got of the user of the last request. */
function assertedUser(): Readonly<Record<string, unknown>> {
  const assertion = world.lastRequest()?.message.headers['x-gateway-assertion']?.toString();
  const { sub, email, name, groups, idp } = decodeJwt(assertion ?? '');
  return { sub, email, name, groups, idp };
}

function lastFailure(): Readonly<Record<string, unknown>> | undefined {
  return world.gateway.logs().findLast(({ message }) => message === 'request failed');
}

describe('A user of GitHub', () => {
  test('signs in, and is known by the number of the account and the primary address', async () => {
    const page = await signIn();

    expect([page.url, page.status]).toEqual([`${world.app}/`, 200]);
    expect(assertedUser()).toEqual({
      ...{ sub: OCTOCAT_ID, email: 'alice@example.com', name: 'Mona Lisa', groups: [] },
      idp: world.github.webUrl,
    });
  });

  test('is asked for nothing but the addresses, with state and PKCE', async () => {
    const page = await new BrowserJar().open(world.app);

    const query = Object.fromEntries(new URL(page.url).searchParams);
    expect(query).toEqual({
      client_id: world.github.clientId,
      redirect_uri: world.github.callbackUrl,
      scope: 'user:email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
  });

  test('who has verified no address has none, and without a name has the login', async () => {
    await signIn('hubot');
    expect(assertedUser()).toMatchObject({ email: undefined, name: 'hubot' });
  });

  test('stays the same user under another login, and nobody else becomes that user by the login', async () => {
    const { accounts } = world.github;
    accounts.set('mona', { ...OCTOCAT, login: 'mona' });
    accounts.set('octocat', { ...OCTOCAT, id: 99 });

    await signIn('mona');
    expect(assertedUser()['sub']).toBe(OCTOCAT_ID);
    await signIn('octocat');
    expect(assertedUser()['sub']).toBe('99');
  });

  test('is judged by claims that GitHub vouches for, and by none of the profile', async () => {
    await world.serve({ allow: { and: [{ 'claim/login': 'octocat' }] } });
    expect((await signIn()).status).toBe(200);
    await world.serve({ allow: { and: [{ 'claim/company': '@admins' }] } });
    expect((await signIn()).status).toBe(403);
  });

  test('who cancels sees that access was denied', async () => {
    expect((await signIn('')).status).toBe(403);
    expect(lastFailure()).toMatchObject({ reason: 'access-denied' });
  });

  test('who does not show the addresses is not let in: policies could deny by them', async () => {
    world.github.grantsScopes = false;
    expect((await signIn()).status).toBe(403);
    expect(lastFailure()).toMatchObject({ reason: 'claims-left-out' });
  });
});

describe('A sign-in with GitHub fails', () => {
  test('if GitHub refuses the code', async () => {
    const browser = new BrowserJar();
    const page = await browser.open(world.app);
    const stopAt = (url: string): boolean => url.startsWith(world.github.callbackUrl);
    const redirect = await browser.submit(page, { login: 'octocat' }, { stopAt });
    const callback = new URL(redirect.headers.location ?? '');
    callback.searchParams.set('code', 'another');

    expect((await browser.open(callback.href)).status).toBe(400);
    expect(lastFailure()).toMatchObject({ reason: 'invalid-grant' });
  });

  test('if the client secret is wrong, and the log says so without it', async () => {
    await world.serve({ clientSecret: 'not-the-secret' });

    expect((await signIn()).status).toBe(502);
    expect(lastFailure()).toMatchObject({
      reason: 'identity-provider-failed',
      error: expect.stringContaining('incorrect_client_credentials'),
    });
    expect(JSON.stringify(world.gateway.logs())).not.toContain('not-the-secret');
  });

  test('at the callback of another provider, which GitHub would answer at too if it were below its own', async () => {
    const page = await new BrowserJar().open(world.app);
    const redirectUri = new URL(page.url).searchParams.get('redirect_uri') ?? '';
    const mixedUp = page.url.replace(
      encodeURIComponent(redirectUri),
      encodeURIComponent(redirectUri.replace('/callback/github', '/callback/partner')),
    );
    expect(mixedUp).not.toBe(page.url);

    const answer = await new BrowserJar().open(mixedUp, { stopAt: (url) => url.includes('code=') });
    expect(answer.url).toContain('error=redirect_uri_mismatch');
    expect(world.github.requests).not.toContain('POST /login/oauth/access_token');
  });

  test('with an error that somebody made up, and the log has nothing of that', async () => {
    const browser = new BrowserJar();
    const page = await browser.open(world.app);
    const state = new URL(page.url).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ error: 'made up', state }).toString();

    expect((await browser.open(`${world.github.callbackUrl}?${query}`)).status).toBe(502);
    expect(lastFailure()?.['error']).toContain('malformed code');
    expect(lastFailure()?.['error']).not.toContain('made up');
  });

  test('with a token that no field can have, and the log has nothing of that', async () => {
    const browser = new BrowserJar();
    const page = await browser.open(world.app);
    world.github.newAccessToken = () => 'gho_malformed\n!';

    expect((await browser.submit(page, { login: 'octocat' })).status).toBe(502);
    expect(lastFailure()?.['error']).toContain('no token');
    expect(lastFailure()?.['error']).not.toContain('gho_malformed');
  });

  test('if the callback URL at GitHub is another one', async () => {
    const { callbackUrl } = world.github;
    world.github.callbackUrl = `${callbackUrl}/other`;
    const page = await new BrowserJar().open(world.app);
    expect(page.url).toContain('error=redirect_uri_mismatch');
    expect(page.status).toBe(400);
  });

  test('if GitHub limits the rate, and not as if the user had no addresses', async () => {
    world.github.isLimited = true;
    expect((await signIn()).status).toBe(502);
    expect(lastFailure()).toMatchObject({ reason: 'identity-provider-failed' });
  });

  test('if the token endpoint gives no token', async () => {
    world.github.accounts.delete('octocat');
    expect((await signIn()).status).toBe(502);
    expect(lastFailure()?.['error']).not.toContain('gho_');
  });
});
