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
  cookieSeconds,
} from './settings-with-secret.ts';

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

  // Attack: an editor of the settings names any Secret of the namespace, and an issuer of their own.
  test('do not read a Secret without the label, and name the label', () => {
    const cluster = new CompilerCluster();
    cluster.change({ secrets: new Map([[NAME, 'unlabelled']]) });
    cluster.putSettings(withSecret());

    expect(clientSecret(cluster)).toBeUndefined();
    const message = `Secret ${NAME} lacks the label gatehouse.dev/referable: "true"`;
    expect(cluster.settingsVerdict).toMatchObject({
      isAccepted: false,
      problems: [{ reason: 'SecretNotReferable', message }],
    });
    expect(cluster.compiler.obstacle).toBeDefined();
  });

  test('keep serving with the values of a Secret that lost its label, and report it', () => {
    const cluster = started();
    cluster.change({ secrets: new Map([[NAME, 'unlabelled']]) });

    expect(clientSecret(cluster)).toBe(SECRET);
    expect(cluster.settingsVerdict).toMatchObject({
      isAccepted: false,
      problems: [{ reason: 'SecretNotReferable' }],
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
