import { describe, expect, test } from '@jest/globals';

import type { Configuration } from '../../../../proxy/configuration/configuration.ts';
import { changesBetween } from '../../../../proxy/configuration/snapshot-changes.ts';
import type { Snapshot } from '../../../../shared/snapshot/snapshot.ts';
import { buildConfiguration, nextConfiguration } from '../../../support/build-configuration.ts';
import {
  aCompiledRoute,
  aCompiledService,
  AN_IDENTITY_PROVIDER,
  aSnapshot,
} from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';

const SETTINGS = compiledSettings();

/** Names of the routes that these paths of a host have. */
function routesAt(
  { routes }: Configuration,
  authority: string,
  ...paths: readonly string[]
): readonly (string | undefined)[] {
  const host = routes.findHost(authority);
  return paths.map((path) => host?.matchPath(path)?.compiled.name);
}

/** Serves one snapshot after another. */
function follow(...snapshots: readonly Snapshot[]): Configuration {
  let before: Snapshot | undefined;
  let configuration: Configuration | undefined;
  for (const snapshot of snapshots) {
    configuration = nextConfiguration(configuration, snapshot, changesBetween(before, snapshot));
    before = snapshot;
  }
  if (configuration === undefined) throw new Error('no snapshot');
  return configuration;
}

function prefixed(name: string, value: string): ReturnType<typeof aCompiledRoute> {
  return aCompiledRoute({ name, path: { kind: 'prefix', value } });
}

describe('two routes that own the same path of a host', () => {
  const [one, two] = [prefixed('a/1', '/x'), prefixed('b/2', '/x')];
  const naming = (key: string): object => ({
    rejected: [{ key, message: 'another route has the same host, port and path' }],
  });

  test('are refused, and the added one is named', () => {
    const before = aSnapshot(SETTINGS, two);
    const after = aSnapshot(SETTINGS, one, two);

    expect(thrownBy(() => follow(aSnapshot(SETTINGS, one, two)))).toMatchObject(
      naming('route/b/2'),
    );
    expect(thrownBy(() => follow(before, after))).toMatchObject(naming('route/a/1'));
  });

  test('leave the configuration before unchanged', () => {
    const before = aSnapshot(SETTINGS, one);
    const configuration = follow(before);
    const changes = changesBetween(before, aSnapshot(SETTINGS, one, two));

    expect(() => nextConfiguration(configuration, before, changes)).toThrow('route/b/2');
    expect(routesAt(configuration, 'app.example.com', '/x')).toEqual(['a/1']);
  });

  test.each([
    ['of another kind', { path: { kind: 'exact', value: '/x' } }],
    ['of another host', { host: 'other.example.com' }],
    ['of another port', { port: 8443 }],
  ] as const)('are none when one is %s', (_what, change) => {
    expect(follow(aSnapshot(SETTINGS, one, { ...two, ...change })).routes).toBeDefined();
  });

  test('may replace each other, and swap their paths', () => {
    const [left, right] = [prefixed('a/1', '/y'), prefixed('b/2', '/z')];
    const configuration = follow(
      aSnapshot(SETTINGS, one),
      aSnapshot(SETTINGS, two),
      aSnapshot(SETTINGS, left, right),
      aSnapshot(SETTINGS, prefixed('a/1', '/z'), prefixed('b/2', '/y')),
    );

    expect(routesAt(configuration, 'app.example.com', '/y', '/z')).toEqual(['b/2', 'a/1']);
  });
});

function thrownBy(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

describe('the configuration after a change', () => {
  test('has the added routes, and not those that were removed or moved to a different host', () => {
    const configuration = follow(
      aSnapshot(SETTINGS, prefixed('a/1', '/1'), prefixed('a/2', '/2'), prefixed('a/3', '/3')),
      aSnapshot(
        SETTINGS,
        prefixed('a/1', '/1'),
        { ...prefixed('a/3', '/3'), host: 'other.example.com' },
        prefixed('a/4', '/4'),
      ),
    );
    expect(routesAt(configuration, 'app.example.com', '/1', '/2', '/3', '/4')).toEqual([
      'a/1',
      undefined,
      undefined,
      'a/4',
    ]);
    expect(routesAt(configuration, 'other.example.com', '/3')).toEqual(['a/3']);
  });

  test('removes a host with its last route', () => {
    const configuration = follow(aSnapshot(SETTINGS, aCompiledRoute()), aSnapshot(SETTINGS));
    expect(configuration.routes.findHost('app.example.com')).toBeUndefined();
  });

  test('serves a changed route by its new content', () => {
    const configuration = follow(
      aSnapshot(SETTINGS, aCompiledRoute({ upstream: 'http://old' })),
      aSnapshot(SETTINGS, aCompiledRoute({ upstream: 'http://new' })),
    );
    const route = configuration.routes.findHost('app.example.com')?.matchPath('/');
    expect(route?.compiled.upstream).toBe('http://new');
  });

  test('equals one that is built from the snapshot alone, whatever came before', () => {
    const last = aSnapshot(SETTINGS, prefixed('a/2', '/A'), prefixed('a/1', '/a'));
    const built = buildConfiguration(last);
    const followed = follow(aSnapshot(SETTINGS, prefixed('a/1', '/a')), last);
    for (const { routes } of [built, followed]) {
      const host = routes.findHost('app.example.com');
      expect(host?.routes.map(({ compiled }) => compiled.name)).toEqual(['a/1', 'a/2']);
      expect(host?.matchPathLoosely('/a')?.compiled.name).toBe('a/2');
    }
  });

  test('shares unchanged hosts with the one before, which stays unchanged', () => {
    const kept = aCompiledRoute({ name: 'a/kept', host: 'kept.example.com' });
    const before = aSnapshot(SETTINGS, aCompiledRoute(), kept);
    const configuration = buildConfiguration(before);
    const after = { version: '2', resources: new Map(before.resources) };
    after.resources.delete('route/default/app');
    const next = nextConfiguration(configuration, after, changesBetween(before, after));
    expect(next.routes.findHost('kept.example.com')).toBe(
      configuration.routes.findHost('kept.example.com'),
    );
    expect(next.routes.findHost('app.example.com')).toBeUndefined();
    expect(configuration.routes.findHost('app.example.com')).toBeDefined();
  });

  test('keeps the routing table if only targets change', () => {
    const before = aSnapshot(SETTINGS, aCompiledRoute(), aCompiledService('a/b', ['10.0.0.1:80']));
    const after = aSnapshot(SETTINGS, aCompiledRoute(), aCompiledService('a/b', ['10.0.0.2:80']));
    const configuration = buildConfiguration(before);
    const next = nextConfiguration(configuration, after, changesBetween(before, after));
    expect(next.routes).toBe(configuration.routes);
    expect(next.services.get('a/b')?.get(8080)).toMatchObject([{ origin: 'http://10.0.0.2:80' }]);
    expect(configuration.services.get('a/b')?.get(8080)).toMatchObject([
      { origin: 'http://10.0.0.1:80' },
    ]);
  });

  test('accepts an identity provider with a different name', () => {
    const { identityProviders } = follow(
      aSnapshot(SETTINGS, AN_IDENTITY_PROVIDER),
      aSnapshot(SETTINGS, { ...AN_IDENTITY_PROVIDER, name: 'before-idp' }),
    );
    expect(identityProviders.all().map(({ name }) => name)).toEqual(['before-idp']);
  });

  test('has the identity provider where users sign in, of several', () => {
    const other = { ...AN_IDENTITY_PROVIDER, name: 'z-other', signIn: false };
    const { identityProviders } = follow(
      aSnapshot(SETTINGS, AN_IDENTITY_PROVIDER),
      aSnapshot(SETTINGS, { ...AN_IDENTITY_PROVIDER, signIn: false }, { ...other, signIn: true }),
      aSnapshot(SETTINGS, AN_IDENTITY_PROVIDER, other),
    );
    expect(identityProviders.signIn?.name).toBe('idp');
  });

  test('does not have removed resources', () => {
    const { identityProviders, services } = follow(
      aSnapshot(SETTINGS, AN_IDENTITY_PROVIDER, aCompiledService('a/b', [])),
      aSnapshot(SETTINGS),
    );
    expect({ providers: identityProviders.all(), services: services.size }).toEqual({
      providers: [],
      services: 0,
    });
  });

  test.each([
    ['settings', aSnapshot(aCompiledRoute()), 'the snapshot has no settings'],
    [
      'a regular expression',
      aSnapshot(SETTINGS, aCompiledRoute({ path: { kind: 'regex', value: '(' } })),
      'not a valid regular expression',
    ],
    [
      'a target',
      aSnapshot(SETTINGS, aCompiledService('a/b', ['nowhere'])),
      'is not a target address',
    ],
  ])('is refused with an invalid part: %s', (_what, after, message) => {
    const before = aSnapshot(SETTINGS);
    const changes = changesBetween(before, after);
    expect(() => nextConfiguration(buildConfiguration(before), after, changes)).toThrow(message);
  });
});
