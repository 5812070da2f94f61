import { beforeEach, describe, expect, test } from '@jest/globals';

import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import { openForAll } from '../support/open-for-all.ts';
import {
  expectRefused,
  signInAt,
  signInUntil,
  startSignInWorld,
  upstreamAnswer,
} from '../support/sign-in-world.ts';
import { verifies } from '../requirements/verifies.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DISCOVERY = '/.well-known/openid-configuration';

const world = openForAll(startSignInWorld);

let app: string;

beforeEach(async () => {
  app = world().originOf('app');
  world().provider.answers.clear();
  await world().serve({ routes: [app] });
});

function requestIdOf(page: BrowserPage): string {
  return /Request ID: <code>([\w-]+)<\/code>/.exec(page.body)?.[1] ?? 'none';
}

function expectProviderPage(page: BrowserPage): void {
  expect(page.status).toBe(502);
  expect(page.body).toContain('identity provider could not be used');
  expect(requestIdOf(page)).toBe(page.headers['x-request-id']);
  expect(page.body).toContain('Try again');
}

function discoveries(): number {
  return world().provider.hits.get(DISCOVERY) ?? 0;
}

describe('An identity provider that cannot be used', () => {
  verifies(
    'errors.auth-flow-page',
    'is reported on a page with the request ID, and used again when it is back',
    async () => {
      const { provider } = world();
      // Different scopes make a different client, whose provider is not cached yet.
      await world().serve({ routes: [app], provider: { scopes: ['openid'] } });
      await provider.stop();
      try {
        expectProviderPage(await new BrowserJar().open(`${app}/a?b=c`));
        expect(world().lastFailure()?.['error']).toContain('ECONNREFUSED');
      } finally {
        await provider.start();
      }
      world().advance(3 * SECOND);

      const page = await signInAt(new BrowserJar(), `${app}/a?b=c`);
      expect(upstreamAnswer(page).url).toBe(`${app}/a?b=c`);
    },
  );

  test('is not asked again immediately after it failed', async () => {
    await world().serve({ routes: [app], provider: { scopes: ['openid', 'email'] } });
    world().provider.fail('discovery');
    const before = discoveries();
    const browser = new BrowserJar();
    for (let attempt = 0; attempt < 5; attempt += 1) expectProviderPage(await browser.open(app));

    expect(discoveries() - before).toBe(1);
  });

  test('is asked for its metadata once by users who arrive at the same time', async () => {
    await world().serve({ routes: [app], provider: { scopes: ['openid', 'groups'] } });
    const before = discoveries();
    const pages = await Promise.all([1, 2, 3, 4].map(() => new BrowserJar().open(app)));

    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(discoveries() - before).toBe(1);
  });

  test('is used with its cached metadata if asking for them again fails', async () => {
    await signInAt(new BrowserJar(), app);
    world().provider.fail('discovery');
    world().advance(61 * MINUTE);

    expect(upstreamAnswer(await signInAt(new BrowserJar(), app)).user).toBe('alice');
  });

  const WRONG_ISSUERS: readonly (readonly [string, () => string])[] = [
    [
      'an issuer that is not its own',
      () => world().provider.issuer.replace('127.0.0.1', 'localhost'),
    ],
    ['an issuer that is not a provider', () => `${world().provider.issuer}/nothing`],
  ];

  for (const [what, issuerUrl] of WRONG_ISSUERS) {
    verifies('errors.auth-flow-page', `with ${what} is reported on a page`, async () => {
      await world().serve({ routes: [app], provider: { issuerUrl: issuerUrl() } });

      expectProviderPage(await new BrowserJar().open(app));
    });
  }

  verifies(
    'errors.auth-flow-page',
    'that refuses the client secret is reported on a page',
    async () => {
      await world().serve({ routes: [app], provider: { clientSecret: 'wrong' } });

      expectProviderPage(await signInAt(new BrowserJar(), app));
    },
  );

  for (const endpoint of ['token', 'userinfo', 'keys'] as const) {
    verifies(
      'errors.auth-flow-page',
      `whose ${endpoint} endpoint fails is reported on a page, and nobody is signed in`,
      async () => {
        // The keys are cached with the client, so this has to be a different client.
        const authorizationParams = { claims_locales: endpoint };
        await world().serve({ routes: [app], provider: { authorizationParams } });
        world().provider.fail(endpoint);
        const browser = new BrowserJar();

        expectProviderPage(await signInAt(browser, app));
        expect(browser.cookie('app.localhost', world().cookieName)).toBeUndefined();
      },
    );
  }

  test('whose userinfo is about a different user is refused', async () => {
    const body = { sub: 'bob', groups: ['admins'] };
    world().provider.answers.set('userinfo', { status: 200, body });
    expectProviderPage(await signInAt(new BrowserJar(), app));
  });

  verifies(
    'errors.auth-flow-page',
    'that is missing from the settings is reported on a page',
    async () => {
      await using gateway = await startSignInWorld();
      const open = gateway.originOf('open');
      await gateway.serve({ routes: [], publicRoutes: [open], provider: 'none' });

      expectProviderPage(await new BrowserJar().open(`${open}/.gateway/sign_in`));
      expect(gateway.lastFailure()?.['reason']).toBe('no-identity-provider');
    },
  );

  test('is not asked about a sign-in that began with a different provider', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, `${app}/a`, /callback\?.*state=/);
    await world().serve({ routes: [app], provider: { name: 'new' } });
    const page = await browser.open(url);

    expectRefused(page, 'other-provider', world());
    expect(page.body).toContain(`href="${app}/a"`);
  });

  test('is not reached over http without the development flag', async () => {
    await using strict = await startSignInWorld({ devAllowLoopback: false });
    const origin = strict.originOf('app');
    await strict.serve({ routes: [origin] });

    expectProviderPage(await new BrowserJar().open(origin));
    expect(strict.lastFailure()?.['error']).toContain('OAUTH_HTTP_REQUEST_FORBIDDEN');
  });
});

describe('The log of a failed sign-in', () => {
  test('holds nothing of a malformed token response', async () => {
    world().provider.answers.set('token', { status: 200, body: 'token-7f31 was not JSON' });
    expectProviderPage(await signInAt(new BrowserJar(), app));

    expect(world().lastFailure()?.['error']).toContain('OAUTH_PARSE_ERROR');
    expect(JSON.stringify(world().gateway.logs())).not.toContain('token-7f31');
  });

  test('holds no secret', async () => {
    const { provider, gateway } = world();
    const browser = new BrowserJar();
    const url = await signInUntil(browser, app, /callback\?.*state=/);
    provider.answers.set('token', { status: 200, body: { access_token: 'secret-access-token' } });
    await browser.open(url);
    const denied = new BrowserJar();
    await denied.submit(await denied.open(app), { login: '' });

    const { searchParams } = new URL(url);
    const logged = JSON.stringify(gateway.logs());
    expect(logged).toContain('identity provider');
    const state = provider.authorizationRequests.at(-1)?.get('state') ?? 'none';
    const secrets = ['code', 'state'].map((name) => searchParams.get(name) ?? 'none');
    for (const secret of [...secrets, state, provider.clientSecret, 'secret-access-token']) {
      expect(logged).not.toContain(secret);
    }
  });
});
