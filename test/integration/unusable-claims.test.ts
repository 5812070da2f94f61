import { describe, expect, test } from '@jest/globals';

import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import {
  signInAt,
  startSignInWorld,
  upstreamAnswer,
  type ProviderSettings,
  type SignInWorld,
} from '../support/sign-in-world.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Entra's identity token of a user with more groups than fit (Microsoft: groups overage claim). */
const OVERAGE: Claims = {
  _claim_names: { groups: 'src1' },
  _claim_sources: { src1: { endpoint: 'https://graph.example/secret-of-a-claim' } },
};

/** Signs in a user with these claims. */
async function signInWith(
  claims: Claims,
  world: SignInWorld,
  provider: ProviderSettings = {},
): Promise<{ readonly page: BrowserPage; readonly browser: BrowserJar; readonly app: string }> {
  const app = world.originOf('app');
  world.provider.users.set('dora', claims);
  await world.serve({ routes: [app], provider: { name: 'company', ...provider } });
  const browser = new BrowserJar();
  return { page: await signInAt(browser, app, 'dora'), browser, app };
}

describe.each([
  ['userinfo', { claimsInIdToken: false }],
  ['the identity token', { claimsInIdToken: true }],
])('A sign-in whose claims in %s cannot be used', (_source, identityProvider) => {
  test.each<[string, Claims]>([
    ['groups-left-out', OVERAGE],
    ['groups-unreadable', { groups: null }],
    ['groups-unreadable', { groups: { 'secret-of-a-claim': true } }],
    ['groups-unreadable', { groups: ['secret-of-a-claim', 7] }],
    ['claims-left-out', { _claim_names: { name: 'src1' }, _claim_sources: { src1: {} } }],
  ])('is refused with the reason %s', async (reason, claims) => {
    await using world = await startSignInWorld({ identityProvider });
    const { page, browser } = await signInWith({ email: 'dora@example.com', ...claims }, world);

    expect(page.status).toBe(403);
    expect(page.body).toContain('administrator of this gateway');
    expect(page.body).toContain(String(page.headers['x-request-id']));
    expect(browser.cookie('app.localhost', world.cookieName)).toBeUndefined();
    const failure = world.lastFailure();
    expect(failure).toMatchObject({ level: 'warn', message: 'request failed', reason });
    expect(failure?.['error']).toContain('the identity provider "company"');
    const said = JSON.stringify(world.gateway.logs()) + page.body;
    expect(said).not.toContain('secret-of-a-claim');
    expect(said).not.toContain('dora@example.com');
  });
});

test('groups of another claim are read although the provider leaves out groups', async () => {
  await using world = await startSignInWorld();
  world.provider.answers.set('userinfo', {
    status: 200,
    body: { sub: 'dora', ...OVERAGE, realm_access: { roles: ['staff'] } },
  });
  const settings = { groupsClaim: 'realm_access/roles' };
  const { page } = await signInWith({}, world, settings);
  expect(upstreamAnswer(page).groups).toEqual(['staff']);
});

test('groups of a claim that is named by a URL are read', async () => {
  await using world = await startSignInWorld();
  const name = 'https://claims.example/groups';
  world.provider.answers.set('userinfo', { status: 200, body: { sub: 'dora', [name]: ['staff'] } });
  const { page } = await signInWith({}, world, { groupsClaim: name });
  expect(upstreamAnswer(page).groups).toEqual(['staff']);
});

test.each([
  [true, { email: 'dora@example.com' }, null],
  [true, { email: 'dora@example.com', email_verified: true }, 'dora@example.com'],
  [false, { email: 'dora@example.com' }, 'dora@example.com'],
  [false, { email: 'dora@example.com', email_verified: 0 }, null],
])('with requireVerifiedEmail %j, the address of %j is %j', async (required, claims, email) => {
  await using world = await startSignInWorld();
  const { page } = await signInWith(claims, world, { requireVerifiedEmail: required });
  expect(upstreamAnswer(page)).toMatchObject({ user: 'dora', email });
});
