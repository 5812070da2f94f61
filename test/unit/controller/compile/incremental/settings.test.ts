import { describe, expect, test } from '@jest/globals';

import { CompilerCluster, publicSpec, settingsSpec } from '../../../../support/compiler-cluster.ts';

const SECRET = 'hunter-2-is-secret';
const NAME = 'gatehouse/idp';

const ROUTE = { from: 'https://a.example.com', to: 'http://up', allowAnyAuthenticatedUser: true };

/** Settings whose identity provider has a secret. */
function withSecret(change: object = {}): object {
  const clientSecretRef = { name: 'idp', key: 'secret' };
  const [provider] = settingsSpec().identityProviders ?? [];
  return { identityProviders: [{ ...provider, clientSecretRef }], ...change };
}

function secret(
  value: string | undefined,
  name = NAME,
): { secrets: Map<string, Map<string, Buffer> | undefined> } {
  const values = value === undefined ? undefined : new Map([['secret', Buffer.from(value)]]);
  return { secrets: new Map([[name, values]]) };
}

/** A cluster whose settings have a secret, with a route. */
function started(): CompilerCluster {
  const cluster = new CompilerCluster();
  cluster.change(secret(SECRET));
  cluster.putSettings(withSecret());
  cluster.put({ 'x/app': ROUTE });
  return cluster;
}

function clientSecret(cluster: CompilerCluster): unknown {
  const value = cluster.snapshot.get('identity-provider/idp')?.value;
  return value?.kind === 'identity-provider' ? value.clientSecret : undefined;
}

function cookieSeconds(cluster: CompilerCluster): unknown {
  const value = cluster.snapshot.get('settings')?.value;
  return value?.kind === 'settings' ? value.cookie.expirationSeconds : undefined;
}

describe('settings', () => {
  test('that are accepted serve, and report what they compiled to', () => {
    const cluster = started();
    const { snapshot, settingsVerdict } = cluster;

    expect(settingsVerdict).toMatchObject({
      isAccepted: true,
      problems: [],
      served: {
        generation: 1,
        spec: withSecret(),
        key: 'settings',
        hash: snapshot.get('settings')?.hash,
      },
      keys: ['settings', 'identity-provider/idp'],
      attachedRoutes: 1,
    });
    expect(cluster.compiler.secretNames).toEqual(new Set([NAME]));
  });

  test('that change nothing are not reported again', () => {
    const cluster = started();

    expect(cluster.change(secret('other', 'gatehouse/unrelated'))).not.toHaveProperty('settings');
  });

  test.each([
    ['not valid', { cookie: { expiration: 'soon' } }, 'InvalidSpec'],
    ['refused by the compiler', { cookie: { expiration: '1500ms' } }, 'UnsupportedValue'],
  ])('that are %s leave the last accepted ones in service', (_what, change, reason) => {
    const cluster = started();
    const before = new Map(cluster.snapshot);
    cluster.putSettings(withSecret(change));

    expect(cluster.snapshot).toEqual(before);
    expect(cluster.compiler.obstacle).toBeUndefined();
    expect(cluster.settingsVerdict).toMatchObject({
      isAccepted: false,
      problems: [{ reason }],
      served: { generation: 1, spec: withSecret() },
    });

    cluster.putSettings(withSecret({ cookie: { expiration: '1h' } }));

    expect(cookieSeconds(cluster)).toBe(3600);
    expect(cluster.settingsVerdict).toMatchObject({ isAccepted: true, served: { generation: 3 } });
  });

  test('keep serving with the values of a deleted Secret, and report it', () => {
    const cluster = started();
    cluster.change(secret(undefined));

    expect(clientSecret(cluster)).toBe(SECRET);
    expect(cluster.settingsVerdict).toMatchObject({
      isAccepted: false,
      problems: [{ reason: 'SecretNotFound', message: `there is no Secret ${NAME}` }],
      served: { generation: 1 },
    });
  });

  test('never have a problem with the value of a Secret', () => {
    const cluster = started();
    cluster.putSettings(withSecret({ signingKeyRefs: [{ name: 'idp', key: 'secret' }] }));

    expect(cluster.settingsVerdict?.problems).toMatchObject([{ reason: 'InvalidSecret' }]);
    expect(JSON.stringify(cluster.settingsVerdict)).not.toContain(SECRET);
  });

  test('use the new value of a Secret', () => {
    const cluster = started();
    const { put } = cluster.change(secret('new'));

    expect(put.map(({ key }) => key)).toEqual(['identity-provider/idp']);
    expect(clientSecret(cluster)).toBe('new');
  });

  // Attack: one identity provider must not get the secret of another.
  test('that are invalid keep the old identity provider from a new value of its Secret', () => {
    const cluster = started();
    cluster.putSettings(withSecret({ cookie: { expiration: 'soon' } }));
    cluster.change(secret('new'));

    expect(clientSecret(cluster)).toBe(SECRET);
  });

  test('need the Secrets of the newest generation and of the one that serves', () => {
    const cluster = started();
    cluster.putSettings({ ...withSecret(), signingKeyRefs: [{ name: 'keys', key: 'a' }] });

    expect(cluster.compiler.secretNames).toEqual(new Set([NAME, 'gatehouse/keys']));
  });

  test('of another class do not count', () => {
    const cluster = started();
    cluster.putSettings({ ...withSecret(), gatewayClassName: 'internal' });

    expect(cluster.settingsVerdict).toBeUndefined();
    expect(cluster.reasons('x/app')).toEqual(['SettingsNotFound']);
  });
});

describe('without settings', () => {
  // Attack: without settings it is unknown which routes may serve, so that none may.
  test('no route serves, not even a public one', () => {
    const cluster = new CompilerCluster();
    cluster.put({ 'x/app': ROUTE, 'x/open': publicSpec('https://open.example.com') });

    expect(cluster.routes).toEqual({});
    expect(cluster.reasons('x/app')).toEqual(['SettingsNotFound']);
    expect(cluster.reasons('x/open')).toEqual(['SettingsNotFound']);
    expect(cookieSeconds(cluster)).toBe(14 * 3600);
    expect(cluster.compiler.obstacle).toBeUndefined();
  });

  test('every route reports which settings are missing', () => {
    const cluster = new CompilerCluster({
      settingsName: 'gatehouse/gatehouse',
      gatewayClassName: 'internal',
    });
    cluster.put({ 'x/app': { ...ROUTE, gatewayClassName: 'internal' } });

    expect(cluster.verdicts.get('x/app')?.problems).toEqual([
      expect.objectContaining({
        message:
          'there is no GatewaySettings gatehouse/gatehouse of class internal, and without it no route serves',
      }),
    ]);
  });

  test('that were deleted, nothing of them stays in the snapshot', () => {
    const cluster = started();
    cluster.put({ 'x/open': publicSpec('https://open.example.com') });
    const { settings } = cluster.putSettings(null);

    expect(settings).toBeNull();
    expect([...cluster.snapshot.keys()]).toEqual(['settings']);
    expect(cluster.compiler.secretNames).toEqual(new Set());
  });
});

describe('another controller that takes over', () => {
  test('serves the recorded settings with the present Secrets', () => {
    const cluster = started();
    cluster.putSettings(withSecret({ cookie: { expiration: 'soon' } }));
    const before = new Map(cluster.snapshot);
    cluster.takeOver();

    expect(cluster.snapshot).toEqual(before);
    expect(cluster.settingsVerdict).toMatchObject({
      isAccepted: false,
      problems: [{ reason: 'InvalidSpec' }],
      served: { generation: 1 },
    });
  });

  test('keeps them from new values of their Secrets until the newest are accepted', () => {
    const cluster = started();
    cluster.putSettings(withSecret({ cookie: { expiration: 'soon' } }));
    cluster.takeOver();
    cluster.change(secret('new'));

    expect(clientSecret(cluster)).toBe(SECRET);

    cluster.putSettings(withSecret());

    expect(clientSecret(cluster)).toBe('new');
  });

  test.each([
    ['of another class', withSecret({ gatewayClassName: 'internal' })],
    ['that are not valid', withSecret({ cookie: { expiration: 'soon' } })],
    ['of a newer generation', withSecret()],
  ])('ignores recorded settings %s', (what, spec) => {
    const cluster = new CompilerCluster();
    const generation = what === 'of a newer generation' ? 2 : 0;
    cluster.update({
      ...secret(SECRET),
      settings: {
        metadata: { namespace: 'gatehouse', name: 'gatehouse', uid: 'a', generation: 1 },
        spec: withSecret({ cookie: { expiration: 'never' } }),
        status: { served: { generation, spec: { ...spec } } },
      },
    });

    expect(cluster.compiler.obstacle).toBeDefined();
    expect(cluster.snapshot.size).toBe(0);
  });

  test('keeps the history of routes while there are no settings', () => {
    const cluster = started();
    cluster.putSettings(withSecret({ authenticateUrl: 'https://auth.example.com' }));
    cluster.put({ 'x/app': { ...ROUTE, from: 'https://auth.example.com' } });
    cluster.change(secret(undefined));
    const before = cluster.snapshot.get('route/x/app');
    cluster.takeOver();
    cluster.change(secret(SECRET));

    expect(cluster.snapshot.get('route/x/app')).toEqual(before);
    expect(cluster.verdicts.get('x/app')).toMatchObject({
      isAccepted: false,
      problems: [{ reason: 'HostConflict' }],
      served: { generation: 1 },
    });
  });

  test('publishes nothing while it has no usable settings', () => {
    const cluster = started();
    cluster.change(secret(undefined));
    const before = new Map(cluster.snapshot);
    const verdicts = new Map(cluster.verdicts);
    const [first] = cluster.takeOver();
    const { put = [], deleted = [], routes = [] } = first ?? {};

    expect(cluster.compiler.obstacle).toBe(
      'GatewaySettings gatehouse/gatehouse cannot be used, and no earlier generation of it is known',
    );
    expect([...put, ...deleted, ...routes]).toEqual([]);
    expect(cluster.snapshot).toEqual(before);
    expect(cluster.verdicts).toEqual(verdicts);
    expect(cluster.settingsVerdict).toMatchObject({
      isAccepted: false,
      problems: [{ reason: 'SecretNotFound' }],
    });
    expect(cluster.settingsVerdict).not.toHaveProperty('served');
    expect(cluster.compiler.secretNames).toEqual(new Set([NAME]));
  });

  test('publishes everything once it has usable settings', () => {
    const cluster = started();
    cluster.change(secret(undefined));
    const before = new Map(cluster.snapshot);
    cluster.takeOver();
    cluster.put({ 'x/new': publicSpec('https://new.example.com') });

    expect(cluster.routes).not.toHaveProperty('x/new');

    const { put } = cluster.change(secret(SECRET));

    expect(cluster.compiler.obstacle).toBeUndefined();
    expect(new Map(put.map((resource) => [resource.key, resource]))).toEqual(cluster.snapshot);
    expect(Object.keys(cluster.routes).sort()).toEqual(['x/app', 'x/new']);
    expect(cluster.snapshot.get('settings')).toEqual(before.get('settings'));
    expect(cluster.verdicts.get('x/app')).toMatchObject({ isAccepted: true });
  });
});

describe('settings that are created again', () => {
  test('have no last good generation', () => {
    const cluster = started();
    const before = new Map(cluster.snapshot);
    const metadata = { namespace: 'gatehouse', name: 'gatehouse', uid: 'another', generation: 1 };
    cluster.update({
      settings: { metadata, spec: withSecret({ cookie: { expiration: 'soon' } }) },
    });

    expect(cluster.compiler.obstacle).toBeDefined();
    expect(cluster.snapshot).toEqual(before);
  });
});
