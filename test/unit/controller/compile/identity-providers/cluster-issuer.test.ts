import { describe, expect, test } from '@jest/globals';

import type { ClusterIssuer } from '../../../../../controller/kubernetes/cluster-issuer.ts';
import { CompilerCluster, settingsSpec } from '../../../../support/compiler-cluster.ts';
import { compileOnce } from '../../../../support/compile-once.ts';
import { aSettings } from '../../../../support/resources.ts';

const PROVIDER = {
  name: 'cluster',
  issuerUrl: 'kubernetes:///',
  audiences: ['https://gw.example'],
};
const COMPANY = { name: 'idp', issuerUrl: 'https://idp.example.com', clientId: 'gatehouse' };
const KNOWN: ClusterIssuer = {
  issuer: 'https://cluster.example',
  keys: [{ kty: 'RSA', kid: 'a', n: 'n', e: 'AQAB' }],
  apiAudiences: ['https://cluster.example', 'https://kubernetes.default.svc'],
};

function clusterWith(change: object = {}): CompilerCluster {
  const cluster = new CompilerCluster();
  cluster.putSettings(settingsSpec({ identityProviders: [COMPANY, { ...PROVIDER, ...change }] }));
  return cluster;
}

function providersOf({ snapshot }: CompilerCluster): readonly string[] {
  return [...snapshot.keys()].filter((key) => key.startsWith('identity-provider/')).sort();
}

describe('the identity provider kubernetes:///', () => {
  test('is published with the issuer and the keys of the API server', () => {
    const cluster = clusterWith();
    cluster.update({ clusterIssuer: { known: KNOWN } });

    expect(cluster.snapshot.get('identity-provider/cluster')?.value).toEqual({
      kind: 'identity-provider',
      name: 'cluster',
      issuer: 'https://cluster.example',
      signIn: false,
      authorizationParams: {},
      audiences: ['https://gw.example'],
      keys: KNOWN.keys,
    });
    expect(cluster.settingsVerdict).toMatchObject({ isAccepted: true, problems: [] });
    expect(cluster.compiler.needsClusterIssuer).toBe(true);
  });

  test('follows a rotation of keys, also while newer settings are rejected', () => {
    const cluster = clusterWith();
    cluster.update({ clusterIssuer: { known: KNOWN } });
    cluster.putSettings({ authenticateUrl: 'http://not-https.example.com' });
    const keys = [{ kty: 'RSA', kid: 'b', n: 'n', e: 'AQAB' } as const];
    const { put } = cluster.update({ clusterIssuer: { known: { ...KNOWN, keys } } });

    expect(put).toMatchObject([{ key: 'identity-provider/cluster', value: { keys } }]);
    expect(cluster.compiler.needsClusterIssuer).toBe(true);
  });

  test('keeps the keys while they cannot be read, and the settings say so', () => {
    const cluster = clusterWith();
    cluster.update({ clusterIssuer: { known: KNOWN } });
    cluster.update({ clusterIssuer: { known: KNOWN, failure: 'forbidden' } });

    expect(providersOf(cluster)).toContain('identity-provider/cluster');
    expect(cluster.settingsVerdict).toMatchObject({
      isAccepted: true,
      problems: [{ message: 'its keys may be outdated: forbidden' }],
    });
  });

  test.each([
    [
      'the API server does not answer',
      {},
      undefined,
      'spec.identityProviders[1].issuerUrl: the API server does not say who issues its tokens: it does not answer',
    ],
    [
      'the API server refuses',
      {},
      { failure: 'forbidden' },
      'spec.identityProviders[1].issuerUrl: the API server does not say who issues its tokens: forbidden',
    ],
    [
      'an audience is that of the API server',
      { audiences: ['https://gw.example', 'https://kubernetes.default.svc'] },
      { known: KNOWN },
      'spec.identityProviders[1].audiences[1]: is an audience of the API server itself; use one that only this gateway has',
    ],
    [
      'another provider has the same issuer',
      {},
      { known: { ...KNOWN, issuer: COMPANY.issuerUrl } },
      'spec.identityProviders[1].issuerUrl: is https://idp.example.com, which is the issuer of idp too',
    ],
  ])('is left out if %s, and the other providers serve', (_title, change, reading, problem) => {
    const cluster = clusterWith(change);
    if (reading !== undefined) cluster.update({ clusterIssuer: reading });
    const { isAccepted, problems = [] } = cluster.settingsVerdict ?? {};

    expect(providersOf(cluster)).toEqual(['identity-provider/idp']);
    expect(isAccepted).toBe(true);
    expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([problem]);
    expect(problems.map(({ reason }) => reason)).toEqual(['ClusterIssuerNotUsable']);
  });

  test('needs the API server only while the settings have it', () => {
    const cluster = clusterWith();
    cluster.putSettings(settingsSpec());

    expect(cluster.compiler.needsClusterIssuer).toBe(false);
  });

  test('cannot be used without a cluster', () => {
    const { problems } = compileOnce({
      routes: [],
      settings: aSettings({ identityProviders: [PROVIDER] }),
    });

    expect(problems).toMatchObject([
      {
        path: 'spec.identityProviders[0].issuerUrl',
        reason: 'UnsupportedValue',
        message: expect.stringContaining('is only for Kubernetes') as unknown,
      },
    ]);
  });

  test('has no problem where only the manifests are checked', () => {
    const settings = aSettings({ identityProviders: [PROVIDER] });
    const { problems } = compileOnce({ routes: [], settings }, { services: 'assumed' });

    expect(problems).toEqual([]);
  });
});
