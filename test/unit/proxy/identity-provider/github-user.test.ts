import { describe, expect, test } from '@jest/globals';

import { ProviderCalls } from '../../../../proxy/identity-provider/provider-calls.ts';
import {
  githubUserOf,
  GithubTokenRefusedError,
} from '../../../../proxy/identity-provider/github-user.ts';
import { startUpstream } from '../../../support/upstream.ts';

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const USER: Reply = { body: { id: 1, login: 'octocat', name: null } };
const PRIMARY = { email: 'a@example.com', primary: true, verified: true };

const SECONDARY_LIMIT =
  'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';

/** Asks an API that answers so who a user is. */
async function ask(user: Reply, emails: Reply) {
  await using api = await startUpstream((message, response) => {
    const { status = 200, headers, body } = message.url === '/user' ? user : emails;
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
  });
  const provider = { name: 'github', issuer: 'https://github.com', apiUrl: api.origin };
  return await githubUserOf(provider, 'the-token', new ProviderCalls());
}

describe('The user of an access token of GitHub', () => {
  test('is the number of the account, with the primary address', async () => {
    const secondary = { ...PRIMARY, email: 'b@example.com', primary: false };
    const claimed = await ask(USER, { body: [secondary, PRIMARY] });
    expect(claimed).toMatchObject({
      kind: 'identity',
      identity: { provider: 'github', subject: '1', email: 'a@example.com', name: 'octocat' },
    });
  });

  test.each<[string, readonly object[]]>([
    ['is not verified', [{ ...PRIMARY, verified: false }]],
    ['is verified in words only', [{ ...PRIMARY, verified: 'true' }]],
    ['is absent', [{ ...PRIMARY, primary: false }]],
    ['is empty', [{ ...PRIMARY, email: '' }]],
  ])('has no address if the primary one %s', async (_how, body) => {
    const claimed = await ask(USER, { body });
    expect(claimed.kind === 'identity' && claimed.identity.email).toBeUndefined();
    expect(claimed.kind === 'identity' && claimed.identity.claims).not.toHaveProperty('email');
  });

  test.each<[string, Reply]>([
    ['the token may not read them', { status: 404 }],
    ['an app may not read them', { status: 403 }],
    ['there are more', { headers: { link: '<https://x.test>; rel="next"' }, body: [] }],
  ])('is unusable if addresses may be missing: %s', async (_why, emails) => {
    expect(await ask(USER, emails)).toEqual({ kind: 'unusable', reason: 'claims-left-out' });
  });

  test.each<[string, Reply, Reply]>([
    ['fails', { status: 500 }, { body: [PRIMARY] }],
    ['sends no JSON', { body: '<html>' }, { body: [PRIMARY] }],
    ['sends no number', { body: { id: '1', login: 'octocat' } }, { body: [PRIMARY] }],
    ['sends a number that may be rounded', { body: '{"id":9007199254740993,"login":"o"}' }, {}],
    ['redirects', { status: 302, headers: { location: 'http://x.test' } }, { body: [PRIMARY] }],
    ['limits the rate', USER, { status: 403, headers: { 'x-ratelimit-remaining': '0' } }],
    ['limits bursts', USER, { status: 403, headers: { 'retry-after': '60' } }],
    ['limits bursts in words only', USER, { status: 403, body: { message: SECONDARY_LIMIT } }],
    ['sends no list of addresses', USER, { body: { message: 'later' } }],
  ])('is not known if GitHub %s', async (_how, user, emails) => {
    const error: unknown = await ask(user, emails).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(GithubTokenRefusedError);
    expect(String(error)).not.toContain('the-token');
  });

  test.each<[Reply, Reply]>([
    [{ status: 401 }, {}],
    [USER, { status: 401 }],
    [{ status: 403, body: { message: 'Sorry. Your account was suspended.' } }, {}],
  ])('is nobody if GitHub does not accept the token', async (user, emails) => {
    await expect(ask(user, emails)).rejects.toBeInstanceOf(GithubTokenRefusedError);
  });
});
