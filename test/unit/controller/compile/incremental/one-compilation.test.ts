import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { compileRoute } from '../../../../../controller/compile/compile-route.ts';
import type { RouteContext } from '../../../../../controller/compile/route-context.ts';
import type { CompileOptions } from '../../../../../controller/compile/resources.ts';
import type { Route } from '../../../../../crds/types.ts';
import {
  compileOnce,
  type CompiledOnce,
  type ResourceSet,
} from '../../../../support/compile-once.ts';
import { aRoute, aSettings } from '../../../../support/resources.ts';

const CONTEXT: RouteContext = {
  devAllowLoopback: false,
  authenticateAddress: undefined,
  signIn: { kind: 'available' },
  identityProviders: [],
  bearerTokenFormat: 'default',
  hasAllowedAudiences: false,
  missingSettings: undefined,
  mcpClientNamespaces: [],
  hostRules: [],
  asMetadataDomains: [],
  hasServices: true,
};
const SECRET = 'hunter-2-is-secret';

function compile(
  resources: Partial<ResourceSet> = {},
  options: Partial<CompileOptions> = {},
): CompiledOnce {
  return compileOnce({ routes: [], settings: aSettings(), ...resources }, options);
}

/** Routes, some of which conflict or are invalid. */
const anyRoute: fc.Arbitrary<Route> = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    namespace: fc.constantFrom('team-a', 'team-b'),
    from: fc.constantFrom(
      'https://a.example.com',
      'https://b.example.com',
      'http://a.example.com:443',
    ),
    prefix: fc.constantFrom('/', '/x', '/x/', '/.gateway'),
    created: fc.constantFrom('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'),
  })
  .map(({ name, namespace, created, ...spec }) =>
    aRoute(
      { ...spec, allowPublicUnauthenticatedAccess: true },
      { name, namespace, creationTimestamp: created },
    ),
  );

/** Names are unique, as in an API server. */
const anyRoutes = fc.uniqueArray(anyRoute, {
  selector: ({ metadata }) => `${String(metadata.namespace)}/${metadata.name}`,
});

describe('a snapshot', () => {
  test('does not depend on the order of the resources', () => {
    const orders = anyRoutes.chain((routes) =>
      fc.tuple(
        fc.constant(routes),
        fc.shuffledSubarray(routes, { minLength: routes.length, maxLength: routes.length }),
      ),
    );
    fc.assert(
      fc.property(orders, ([routes, shuffled]) => {
        expect(compile({ routes: shuffled })).toEqual(compile({ routes }));
      }),
    );
  });

  test('is the same with an invalid route as without it', () => {
    const invalid = aRoute({ regex: '(?=a)' }, { name: 'invalid' });
    fc.assert(
      fc.property(anyRoutes, (routes) => {
        const { snapshot, problems } = compile({ routes: [invalid, ...routes] });

        expect(snapshot).toEqual(compile({ routes }).snapshot);
        expect(problems).toContainEqual(
          expect.objectContaining({ resource: 'Route default/invalid', reason: 'InvalidRegex' }),
        );
      }),
    );
  });

  test('contains exactly the routes without a problem', () => {
    fc.assert(
      fc.property(anyRoutes, (routes) => {
        const { snapshot, problems, acceptedRoutes } = compile({ routes });
        const bad = new Set(problems.map(({ resource }) => resource));
        const names = routes.map(
          ({ metadata }) => `${String(metadata.namespace)}/${metadata.name}`,
        );
        const good = names.filter((name) => !bad.has(`Route ${name}`)).sort();

        expect([...acceptedRoutes].sort()).toEqual(good);
        expect([...snapshot.resources.keys()].filter((key) => key.startsWith('route/'))).toEqual(
          good.map((name) => `route/${name}`),
        );
      }),
    );
  });

  test('has a different version for a different configuration', () => {
    const versions = [
      compile(),
      compile({ routes: [aRoute()] }),
      compile({ routes: [aRoute({ to: 'http://other:8080' })] }),
      compile({ settings: aSettings({ cookie: { expiration: '1h' } }) }),
    ].map(({ snapshot }) => snapshot.version);

    expect(new Set(versions).size).toBe(versions.length);
  });

  test('contains the settings and the identity provider that signs users in', () => {
    const { snapshot } = compile();

    expect([...snapshot.resources.keys()]).toEqual(['identity-provider/idp', 'settings']);
  });
});

describe('a route that was not validated', () => {
  // Attack: public access beside a policy, where no rule of the definition was evaluated.
  test.each([
    ['a policy', { policy: { allow: { or: [{ accept: true }] } } }],
    ['any user', { allowAnyAuthenticatedUser: true }],
    ['an MCP server', { mcp: { server: {} } }],
  ])('is not public if it has %s', (_title, spec) => {
    const route = aRoute({ allowPublicUnauthenticatedAccess: true, ...spec });

    expect(compileRoute(route, CONTEXT)).toMatchObject({ value: { access: { kind: 'policy' } } });
  });

  test('has no problem that repeats the password in its upstream', () => {
    const outcome = compileRoute(aRoute({ to: `http://user:${SECRET}@app` }), CONTEXT);

    expect(outcome).toMatchObject({
      problems: [{ message: 'must not contain a user or password' }],
    });
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });

  test.each([
    ['http://app?q', 'must not have a query or a fragment'],
    ['http://app#f', 'must not have a query or a fragment'],
    ['ftp://app', 'must be an http or https URL'],
  ])('is rejected if its upstream is %s', (to, message) => {
    expect(compileRoute(aRoute({ to }), CONTEXT)).toMatchObject({
      problems: [{ path: 'spec.to', message }],
    });
  });
});

describe('references to Services without a cluster', () => {
  const backendRefs = [
    { name: 'app', port: 80 },
    { name: 'app', namespace: 'elsewhere', port: 80 },
  ];
  const from = 'https://app.example.com';
  const route = (spec: object): Route => ({ ...aRoute(), spec: { from, ...spec } });

  test('are rejected, unless Services are assumed to exist', () => {
    const routes = [route({ backendRefs, allowAnyAuthenticatedUser: true })];

    expect(compile({ routes }).problems).toMatchObject([
      { path: 'spec.backendRefs', reason: 'UnsupportedValue' },
    ]);
    expect(compile({ routes }, { services: 'assumed' })).toMatchObject({
      problems: [],
      acceptedRoutes: new Set(['default/app']),
    });
  });

  test('do not hide other problems', () => {
    const bad = [{ name: 'app', port: 80, kind: 'Bucket' }];
    const spec = { backendRefs: bad, policy: { allow: { or: [{ emial: 'x' }] } } };
    const { problems } = compile({ routes: [route(spec)] }, { services: 'assumed' });

    expect(problems.map(({ reason }) => reason).sort()).toEqual(['InvalidKind', 'InvalidPolicy']);
  });
});

describe('settings', () => {
  test('with an invalid secret have no problem that repeats it', () => {
    const settings = aSettings({ signingKeyRefs: [{ name: 'keys', key: 'a' }] });
    const secrets = new Map([['default/keys', new Map([['a', Buffer.from(SECRET)]])]]);
    const { problems, isSettingsAccepted } = compile({ settings, secrets });

    expect(isSettingsAccepted).toBe(false);
    expect(problems).toMatchObject([{ reason: 'InvalidSecret' }]);
    expect(JSON.stringify(problems)).not.toContain(SECRET);
  });

  test.each(['a\0b', 'a\uFFFDb', 'a\u001Bb'])('refuse %j as the value of a Secret', (value) => {
    const settings = aSettings({ signingKeyRefs: [{ name: 'keys', key: 'a' }] });
    const secrets = new Map([['default/keys', new Map([['a', Buffer.from(value)]])]]);
    const { problems } = compile({ settings, secrets });

    expect(problems).toMatchObject([
      { reason: 'InvalidSecret', message: expect.stringMatching(/has the character U\+\w{4}/) },
    ]);
  });

  test('may be absent', () => {
    expect(compile({ settings: undefined })).toMatchObject({
      isSettingsAccepted: true,
      problems: [],
    });
  });

  test.each([
    [{ signIn: false }, []],
    [{ signIn: true }, []],
    [{ issuerUrl: 'https://user@idp.example.com' }, ['spec.identityProviders[0].issuerUrl']],
    [{ issuerUrl: 'http://localhost:9000' }, ['spec.identityProviders[0].issuerUrl']],
    [
      { audiences: ['a'], jwksUrl: 'http://idp.example.com/keys' },
      ['spec.identityProviders[0].jwksUrl'],
    ],
  ])('with one provider that has %j have problems at %j', (change, paths) => {
    const provider = { name: 'idp', issuerUrl: 'https://idp.example.com', clientId: 'gatehouse' };
    const settings = aSettings({ identityProviders: [{ ...provider, ...change }] });

    expect(compile({ settings }).problems.map(({ path }) => path)).toEqual(paths);
  });
});
