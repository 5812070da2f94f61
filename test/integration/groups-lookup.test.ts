import { describe, expect, test } from '@jest/globals';

import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import { startGroupsEndpoint, type GroupsAnswer } from '../support/groups-endpoint.ts';
import { signInAt, startSignInWorld, upstreamAnswer } from '../support/sign-in-world.ts';
import { startUpstream } from '../support/upstream.ts';

/** The claims of a user whose groups the provider leaves out. */
const LEFT_OUT = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: {} } };
const GROUPS = ['staff', 'team-a', 'team-b', 'team-c', 'team-d'];

async function startWorld() {
  const stack = new AsyncDisposableStack();
  const world = stack.use(await startSignInWorld());
  const endpoint = stack.use(await startGroupsEndpoint(world.provider));
  endpoint.groups = GROUPS;
  const app = world.originOf('app');
  world.provider.users.set('dora', LEFT_OUT);
  const groupsLookup = { url: endpoint.url, groupsPath: 'value/id' };
  await world.serve({ routes: [app], provider: { groupsLookup } });
  const browser = new BrowserJar();
  const requested = (): readonly (string | undefined)[] =>
    endpoint.upstream.requests.map(({ message }) => message.url);
  return {
    ...{ world, endpoint, browser, requested },
    signIn: (login = 'dora'): Promise<BrowserPage> => signInAt(browser, app, login),
    isSignedIn: () => browser.cookie('app.localhost', world.cookieName) !== undefined,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe('Groups that the provider leaves out', () => {
  test('are read from all pages of the look-up, with the access token of the user', async () => {
    await using started = await startWorld();
    expect(upstreamAnswer(await started.signIn()).groups).toEqual(GROUPS);
    expect(started.requested()).toEqual([
      '/me/groups?$select=id',
      '/me/groups?skip=2',
      '/me/groups?skip=4',
    ]);
  });

  test('may be none', async () => {
    await using started = await startWorld();
    started.endpoint.groups = [];
    expect(upstreamAnswer(await started.signIn()).groups).toEqual([]);
  });
});

test('groups in the claims are not looked up', async () => {
  await using started = await startWorld();
  expect(upstreamAnswer(await started.signIn('alice')).groups).toEqual(['engineering']);
  expect(started.requested()).toEqual([]);
});

describe('A look-up of groups that fails', () => {
  const page = (value: unknown): GroupsAnswer => ({ body: { value } });

  test.each<[string, GroupsAnswer]>([
    ['without permission', { status: 403, body: { error: 'secret-of-the-endpoint' } }],
    ['with an error', { status: 500 }],
    ['with an error in the form of a page', { status: 403, body: { value: [] } }],
    ['without content', { status: 204 }],
    ['without JSON', { body: 'secret-of-the-endpoint' }],
    ['with a list', { body: '[]' }],
    ['without the list of names', { body: { other: [] } }],
    ['with null', page(null)],
    ['with an object', page({ id: 7 })],
    ['with names of another kind', page([{ id: 'staff' }, { id: 7 }])],
    ['with empty names', page([{ id: '' }])],
    ['with a member of the list that has no name', page([{ id: 'staff' }, {}])],
    ['with a list of texts in place of objects', page(['staff'])],
    ['with a next page that is not a URL', { body: { value: [], '@odata.nextLink': 7 } }],
    [
      'with a next page in a header',
      { headers: { link: '</me?page=2>; rel="next"' }, ...page([]) },
    ],
    ['with pages without end', { body: { value: [], '@odata.nextLink': '/me/groups' } }],
    ['with an endless body', { body: JSON.stringify({ value: [], more: 'x'.repeat(2 ** 21) }) }],
  ])('%s refuses the sign-in', async (_case, answer) => {
    await using started = await startWorld();
    started.endpoint.answer = answer;
    const refused = await started.signIn();

    expect(refused.status).toBe(502);
    expect(refused.body).toContain('give the request ID to your administrator');
    expect(started.isSignedIn()).toBe(false);
    const { world } = started;
    expect(world.lastFailure()).toMatchObject({ level: 'warn', reason: 'groups-lookup-failed' });
    const [request] = started.endpoint.upstream.requests;
    const token = request?.message.headers.authorization?.slice('Bearer '.length) ?? 'none';
    const logged = JSON.stringify(world.gateway.logs());
    expect(logged).not.toContain(token);
    expect(logged).not.toContain('secret-of-the-endpoint');
  });

  // The access token of the user must not get to another server.
  test.each([
    ['a redirect', (to: string) => ({ status: 302, headers: { location: to } })],
    ['a next page', (to: string) => ({ body: { value: [], '@odata.nextLink': to } })],
    [
      'a next page with a password',
      (to: string) => ({ body: { value: [], '@odata.nextLink': to.replace('//', '//u:p@') } }),
    ],
  ])('by %s to another origin sends nothing there', async (_case, answerWith) => {
    await using elsewhere = await startUpstream((_message, response) => response.end('{}'));
    await using started = await startWorld();
    started.endpoint.answer = answerWith(`${elsewhere.origin}/me/groups`);
    expect((await started.signIn()).status).toBe(502);
    expect(elsewhere.requests).toHaveLength(0);
    expect(started.requested()).toHaveLength(1);
  });

  test('because it cannot be reached refuses the sign-in', async () => {
    await using started = await startWorld();
    await started.endpoint[Symbol.asyncDispose]();
    expect((await started.signIn()).status).toBe(502);
    expect(started.world.lastFailure()?.['error']).toContain('ECONNREFUSED');
  });
});
