import { describe, expect, test } from '@jest/globals';

import { CompilerCluster, publicSpec } from '../../../../support/compiler-cluster.ts';
import {
  SECRET,
  NAME,
  ROUTE,
  withSecret,
  secret,
  started,
  clientSecret,
} from './settings-with-secret.ts';

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
