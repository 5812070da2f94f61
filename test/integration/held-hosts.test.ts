import { beforeEach, expect, test } from '@jest/globals';

import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import { aHeldHost, aResource } from '../support/compiled-resources.ts';
import { compileManifests } from '../support/gateway.ts';
import {
  manifestsWithUsers,
  startGatewayWithUsers,
  type GatewayWithUsers,
  type RouteSpec,
} from '../support/gateway-with-users.ts';
import { send, type RequestOptions } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { RawClient } from '../support/raw-http.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const APP = 'app.team.localhost';

interface HeldHostWorld extends AsyncDisposable {
  readonly users: GatewayWithUsers;
  /** Upstream of the wildcard of another namespace. */
  readonly other: Upstream;
  readonly app: string;
  /** Serves these routes; with `holds`, the host of the app is held. */
  serve(names: readonly (keyof Specs)[], holds?: boolean): Promise<void>;
}

type Specs = Readonly<Record<'app' | 'wildcard' | 'elsewhere', RouteSpec>>;

async function startHeldHostWorld(): Promise<HeldHostWorld> {
  await using opening = new AsyncDisposableStack();
  const own = opening.use(await startUpstream((_message, response) => response.end('own')));
  const other = opening.use(await startUpstream((_message, response) => response.end('other')));
  const users = opening.use(await startGatewayWithUsers());
  const { port } = users.gateway;
  const origin = (host: string): string => `http://${host}:${String(port)}`;
  const forAll = { to: other.origin, allowPublicUnauthenticatedAccess: true };
  const specs: Specs = {
    app: { from: origin(APP), to: own.origin, allowAnyAuthenticatedUser: true },
    wildcard: { ...forAll, from: origin('*.team.localhost'), allowWebsockets: true },
    elsewhere: { ...forAll, from: origin('elsewhere.localhost') },
  };
  const authenticateUrl = origin('authenticate.localhost');
  users.identityProvider.redirectUris.add(`${authenticateUrl}/.gateway/callback`);
  const opened = opening.move();
  return {
    ...{ users, other, app: origin(APP) },
    async serve(names, holds = false) {
      const routes = Object.fromEntries(names.map((name) => [name, specs[name]]));
      const manifests = manifestsWithUsers(routes, { authenticateUrl }, users.identityProvider);
      const { resources } = compileManifests(manifests);
      const held = holds ? [aResource(aHeldHost(APP, [port]))] : [];
      await users.gateway.gateway.apply(snapshotOf([...resources.values(), ...held]));
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const world = openForAll(startHeldHostWorld);

beforeEach(() => world().serve(['app', 'wildcard']));

/** Signs alice in at the app. */
async function signIn(browser: BrowserJar): Promise<BrowserPage> {
  return browser.submit(await browser.open(world().app), { login: 'alice', password: 'x' });
}

const REQUESTS: readonly (readonly [string, string, RequestOptions?])[] = [
  ['of a page', '/any/path?x=1'],
  ['that posts', '/', { method: 'POST', body: 'x' }],
  ['to the account page', '/.gateway/'],
  ['to sign in', '/.gateway/sign_in'],
  ['of a callback', '/.gateway/callback?sign_in_code=x'],
  ['to sign out', '/.gateway/sign_out', { method: 'POST', body: '' }],
  ['for the keys', '/.gateway/jwks.json'],
  ['for metadata', '/.well-known/oauth-authorization-server'],
  ['for a token', '/.gateway/token', { method: 'POST', body: 'grant_type=refresh_token' }],
  ['of a preflight', '/', { method: 'OPTIONS', headers: { origin: 'https://x.example' } }],
];

test.each(REQUESTS)(
  'a request %s is answered at a held host as if the wildcard did not exist',
  async (_what, path, options = {}) => {
    const browser = new BrowserJar();
    await signIn(browser);
    const cookie = browser.cookies
      .filter(({ host }) => host === APP)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    expect(cookie).not.toBe('');
    const ask = async (): Promise<object> => {
      const headers = { ...options.headers, cookie };
      const { status, body } = await send(world().app + path, { ...options, headers });
      return { status, body: body.replace(/[\da-f]{8}-[-\da-f]{27}/g, 'ID') };
    };
    await world().serve(['elsewhere']);
    const unknown = await ask();
    await world().serve(['wildcard', 'elsewhere'], true);
    const before = world().other.requests.length;

    expect(await ask()).toEqual(unknown);
    expect(unknown).toMatchObject({ status: 421 });
    expect(world().other.requests).toHaveLength(before);
  },
);

test.each([
  ['in capitals', (port: string) => `APP.Team.LOCALHOST:${port}`, '/'],
  ['with a dot at its end', (port: string) => `${APP}.:${port}`, '/'],
  ['with a zero before its port', (port: string) => `${APP}:0${port}`, '/'],
  ['in the request line', (port: string) => `${APP}:${port}`, `http://${APP}:PORT/`],
  [
    'in a request line for another',
    (port: string) => `b.team.localhost:${port}`,
    `http://${APP}:PORT/`,
  ],
])('a held host that is written %s does not reach the wildcard', async (_what, hostOf, target) => {
  await world().serve(['wildcard'], true);
  const { port } = new URL(world().app);
  const before = world().other.requests.length;
  await using client = await RawClient.connect(Number(port));
  client.send(
    `GET ${target.replace('PORT', port)} HTTP/1.1\r\nHost: ${hostOf(port)}\r\nConnection: close\r\n\r\n`,
  );
  await client.closed;
  expect(client.received).toMatch(/^HTTP\/1\.1 4(?:00|21) /);
  expect(world().other.requests).toHaveLength(before);
});

test('a handshake at a held host does not reach the wildcard', async () => {
  await world().serve(['wildcard'], true);
  await using client = await RawClient.connect(world().users.gateway.port);
  const { host } = new URL(world().app);
  client.send(
    `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await client.closed;
  expect(client.received).toMatch(/^HTTP\/1\.1 421 /);
});

test('a sign-in for a host that is held meanwhile does not end there', async () => {
  const browser = new BrowserJar();
  const form = await browser.open(world().app);
  await world().serve(['wildcard'], true);
  const page = await browser.submit(form, { login: 'alice', password: 'x' });

  expect(page.status).toBe(400);
  expect(new URL(page.url).hostname).toBe('authenticate.localhost');
  const session = `gatehouse-${String(world().users.gateway.port)}`;
  expect(browser.cookie(APP, session)).toBeUndefined();
});

test('the wildcard serves every other name, and the session is valid again once the hold ends', async () => {
  const browser = new BrowserJar();
  expect((await signIn(browser)).body).toBe('own');
  await world().serve(['wildcard'], true);
  expect((await send(world().app.replace(APP, 'b.team.localhost'))).body).toBe('other');
  expect((await browser.open(world().app)).status).toBe(421);
  // Here the route and the hold are there together, as while a mass deletion is held back.
  await world().serve(['app', 'wildcard'], true);
  expect((await browser.open(world().app)).body).toBe('own');
});
