import { expect, test } from '@jest/globals';

import { BrowserJar } from '../support/browser-jar.ts';
import { startGatewayWithUsers } from '../support/gateway-with-users.ts';
import { startUpstream } from '../support/upstream.ts';

const POLICY = {
  allow: { and: [{ authenticated_user: true }] },
  deny: { and: [{ groups: { has: 'sales' } }] },
};

/** Signs a user in, who takes scopes from the URL of the provider, and returns the status at the route. */
async function statusOf(login: string, scopes: string | undefined): Promise<number> {
  await using upstream = await startUpstream((_message, response) => response.end());
  await using users = await startGatewayWithUsers();
  const from = users.originOf('app');
  await users.configure({ app: { from, to: upstream.origin, policy: POLICY } });
  const browser = new BrowserJar();
  const stopAt = (url: string): boolean => url.includes('/auth?');
  const redirect = await browser.open(from, { stopAt });
  const url = new URL(redirect.headers.location ?? '', redirect.url);
  if (scopes !== undefined) url.searchParams.set('scope', scopes);
  const page = await browser.open(url.href);
  return (await browser.submit(page, { login })).status;
}

test('a user who edits the scopes of a sign-in does not pass a policy that denies by group', async () => {
  expect(await statusOf('alice', undefined)).toBe(200);
  expect(await statusOf('bob', undefined)).toBe(403);
  expect(await statusOf('bob', 'openid')).toBe(403);
});
