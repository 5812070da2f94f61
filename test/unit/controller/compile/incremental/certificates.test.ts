import { describe, expect, test } from '@jest/globals';

import { keptValues, type SecretValues } from '../../../../../controller/validate/secret.ts';
import {
  publicSpec,
  settingsSpec,
  startedCluster,
  type CompilerCluster,
} from '../../../../support/compiler-cluster.ts';
import { createThrowawayAuthority } from '../../../../support/throwaway-authority.ts';

const authority = createThrowawayAuthority();
const NOT_AFTER = Date.parse('2049-12-31T23:59:59Z') / 1000;
const ROUTE = 'x/app';
const OWN = 'x/app-tls';
const FOREIGN = 'certs/wildcard';

function tlsSecret(hosts: readonly string[]): SecretValues {
  const { cert, key } = authority.issue(hosts);
  const values = new Map([
    ['tls.crt', Buffer.from(cert)],
    ['tls.key', Buffer.from(key)],
  ]);
  return keptValues({ type: 'kubernetes.io/tls', labels: {}, values });
}

const BROKEN = keptValues({ type: 'kubernetes.io/tls', labels: {}, values: new Map() });

function routeWith(...certificateRefs: readonly object[]): object {
  return publicSpec('https://a.example.com', { tls: { certificateRefs } });
}

function started(values: SecretValues | undefined = tlsSecret(['a.example.com'])): CompilerCluster {
  const cluster = startedCluster();
  cluster.change({ secrets: new Map([[OWN, values]]) });
  cluster.put({ [ROUTE]: routeWith({ name: 'app-tls' }) });
  return cluster;
}

function certificatesIn(cluster: CompilerCluster): readonly string[] {
  return [...cluster.snapshot.keys()].filter((key) => key.startsWith('certificate/')).sort();
}

function grant(...names: readonly string[]) {
  return {
    metadata: { name: 'routes', namespace: 'certs' },
    spec: {
      from: [{ group: 'gatehouse.dev', kind: 'Route', namespace: 'x' }],
      to: names.map((name) => ({ group: '', kind: 'Secret', name })),
    },
  };
}

describe('the certificate of a route', () => {
  test('is asked for, is a resource of its own, and needs no label', () => {
    const cluster = started();

    expect(cluster.compiler.secretNames).toEqual(new Set([OWN]));
    expect(cluster.routes[ROUTE]?.certificates).toEqual([OWN]);
    expect(cluster.snapshot.get(`certificate/${OWN}`)?.value).toMatchObject({
      kind: 'certificate',
      name: OWN,
      hosts: ['a.example.com'],
      notAfter: NOT_AFTER,
    });
    expect(cluster.verdicts.get(ROUTE)?.certificates).toMatchObject([
      { secret: OWN, notAfter: NOT_AFTER },
    ]);
    expect(cluster.reasons(ROUTE)).toEqual([]);
  });

  test('that is renewed changes no route', () => {
    const cluster = started();
    const { put } = cluster.change({ secrets: new Map([[OWN, tlsSecret(['a.example.com'])]]) });

    expect(put.map(({ key }) => key)).toEqual([`certificate/${OWN}`]);
  });

  test('that does not exist leaves the route serving, and serves once it exists', () => {
    const cluster = startedCluster();
    cluster.put({ [ROUTE]: routeWith({ name: 'app-tls' }) });

    expect(cluster.routes[ROUTE]).toBeDefined();
    expect(cluster.routes[ROUTE]?.certificates).toBeUndefined();
    expect(cluster.verdicts.get(ROUTE)).toMatchObject({
      isAccepted: true,
      problems: [
        {
          path: 'spec.tls.certificateRefs[0]',
          reason: 'SecretNotFound',
          message: `there is no Secret ${OWN}`,
        },
      ],
    });

    cluster.change({ secrets: new Map([[OWN, tlsSecret(['a.example.com'])]]) });

    expect(cluster.routes[ROUTE]?.certificates).toEqual([OWN]);
    expect(cluster.reasons(ROUTE)).toEqual([]);
  });

  test('that becomes unusable stays as it was, until its Secret is deleted', () => {
    const cluster = started();
    const { put, deleted } = cluster.change({ secrets: new Map([[OWN, BROKEN]]) });

    expect([put, deleted]).toEqual([[], []]);
    expect(cluster.reasons(ROUTE)).toEqual(['InvalidSecret']);
    expect(certificatesIn(cluster)).toEqual([`certificate/${OWN}`]);

    cluster.change({ secrets: new Map([[OWN, undefined]]) });

    expect(cluster.reasons(ROUTE)).toEqual(['SecretNotFound']);
    expect(certificatesIn(cluster)).toEqual([]);
    expect(cluster.routes[ROUTE]?.certificates).toBeUndefined();
  });

  test('that is not for its host is a problem, and the others serve', () => {
    const cluster = started();
    const secrets = new Map([['x/other', tlsSecret(['b.example.com'])]]);
    cluster.change({ secrets });
    cluster.put({ [ROUTE]: routeWith({ name: 'other' }, { name: 'app-tls' }) });

    expect(cluster.routes[ROUTE]?.certificates).toEqual([OWN]);
    expect(cluster.verdicts.get(ROUTE)?.problems).toEqual([
      {
        path: 'spec.tls.certificateRefs[0]',
        reason: 'CertificateNotForHost',
        message:
          'the certificate in Secret x/other is for b.example.com, and not for a.example.com',
      },
    ]);
    expect(certificatesIn(cluster)).toEqual([`certificate/${OWN}`]);
  });

  test.each(['unlabelled' as const, new Map([['tls.crt', Buffer.from('x')]])])(
    'cannot be in a Secret of another type',
    (values) => {
      const cluster = started(values);

      expect(cluster.verdicts.get(ROUTE)?.problems).toMatchObject([
        { reason: 'InvalidSecret', message: expect.stringContaining('kubernetes.io/tls') },
      ]);
    },
  );

  // Attack: whoever writes Routes could have the certificate of another namespace serve for them.
  test('of another namespace is neither used nor asked for without a ReferenceGrant', () => {
    const cluster = startedCluster();
    cluster.change({ secrets: new Map([[FOREIGN, tlsSecret(['*.example.com'])]]) });
    cluster.put({ [ROUTE]: routeWith({ name: 'wildcard', namespace: 'certs' }) });
    const granted = (value: ReturnType<typeof grant> | undefined): void => {
      cluster.change({ referenceGrants: new Map([['certs/routes', value]]) });
    };

    const refusal = ['RefNotPermitted', undefined, new Set()];
    const state = (): readonly unknown[] => [
      cluster.reasons(ROUTE)[0],
      cluster.routes[ROUTE]?.certificates,
      cluster.compiler.secretNames,
    ];
    expect(state()).toEqual(refusal);

    granted(grant('another'));
    expect(state()).toEqual(refusal);

    granted(grant('wildcard'));
    expect(state()).toEqual([undefined, [FOREIGN], new Set([FOREIGN])]);

    granted(undefined);
    expect(state()).toEqual(refusal);
    expect(certificatesIn(cluster)).toEqual([]);
  });

  test('leaves the snapshot with the last route that names it', () => {
    const cluster = started();
    cluster.put({ 'x/second': { ...routeWith({ name: 'app-tls' }), prefix: '/second' } });
    cluster.delete(ROUTE);
    expect(certificatesIn(cluster)).toEqual([`certificate/${OWN}`]);

    cluster.delete('x/second');
    expect(certificatesIn(cluster)).toEqual([]);
    expect(cluster.compiler.secretNames).toEqual(new Set());
  });

  test('never has its key in a verdict', () => {
    const cluster = started();

    expect(JSON.stringify([...cluster.verdicts.values()])).not.toContain('PRIVATE KEY');
  });

  // Attack: the key of a certificate would be sent to the token URL as a client secret.
  test('is no secret of another field without the label', () => {
    const cluster = started();
    const clientSecretRef = { name: 'app-tls', key: 'tls.key' };
    const upstreamOauth2 = { clientId: 'gateway', clientSecretRef };
    const from = 'https://b.example.com';
    const mcp = { server: { upstreamOauth2 } };
    cluster.put({ 'x/thief': { from, to: 'https://b.test', mcp } });

    expect(cluster.reasons('x/thief')).toEqual(['SecretNotReferable']);
  });
});

describe('the default certificate', () => {
  const NAME = 'gatehouse/default-tls';

  function withDefault(): CompilerCluster {
    const cluster = startedCluster();
    cluster.putSettings(settingsSpec({ defaultCertificateRef: { name: 'default-tls' } }));
    return cluster;
  }

  test('that does not exist leaves the settings serving', () => {
    const cluster = withDefault();

    expect(cluster.compiler.secretNames).toEqual(new Set([NAME]));
    expect(cluster.settingsVerdict).toMatchObject({
      isAccepted: true,
      problems: [{ path: 'spec.defaultCertificateRef', reason: 'SecretNotFound' }],
    });
    expect(cluster.snapshot.get('settings')?.value).toMatchObject({ defaultCertificate: NAME });
  });

  test('serves once it exists, without a change of the settings', () => {
    const cluster = withDefault();
    const { put } = cluster.change({ secrets: new Map([[NAME, tlsSecret(['*.example.com'])]]) });

    expect(put.map(({ key }) => key)).toEqual([`certificate/${NAME}`]);
    expect(cluster.settingsVerdict).toMatchObject({
      isAccepted: true,
      problems: [],
      certificates: [{ secret: NAME, notAfter: NOT_AFTER }],
    });

    cluster.putSettings(settingsSpec());

    expect(certificatesIn(cluster)).toEqual([]);
  });
});

describe('the certificate authorities of an identity provider', () => {
  const NAME = 'gatehouse/corp-ca';
  const provider = {
    name: 'idp',
    issuerUrl: 'https://idp.example.com',
    clientId: 'gatehouse',
    caRef: { name: 'corp-ca' },
  };
  const authoritiesIn = (cluster: CompilerCluster): unknown => {
    const value = cluster.snapshot.get('identity-provider/idp')?.value;
    return value?.kind === 'identity-provider' ? value.certificateAuthorities : undefined;
  };
  const change = (cluster: CompilerCluster, text: string | undefined): void => {
    const values = text === undefined ? undefined : new Map([['ca.crt', text]]);
    cluster.change({ configMaps: new Map([[NAME, values]]) });
  };

  test('are asked for, and reach the snapshot without what is written between them', () => {
    const cluster = startedCluster();
    cluster.putSettings(settingsSpec({ identityProviders: [provider] }));
    expect(cluster.compiler.configMapNames).toEqual(new Set([NAME]));
    expect(cluster.settingsVerdict).toMatchObject({
      isAccepted: false,
      problems: [{ path: 'spec.identityProviders[0].caRef', reason: 'ConfigMapNotFound' }],
    });

    change(cluster, `# corp\n${authority.ca}`);

    expect(authoritiesIn(cluster)).toBe(authority.ca);
    expect(cluster.settingsVerdict?.isAccepted).toBe(true);
  });

  test.each([
    ['', 'InvalidConfigMap'],
    ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'InvalidConfigMap'],
    [undefined, 'ConfigMapNotFound'],
  ])('that become unusable leave the last good ones in use: %j', (text, reason) => {
    const cluster = startedCluster();
    change(cluster, authority.ca);
    cluster.putSettings(settingsSpec({ identityProviders: [provider] }));
    change(cluster, text);

    expect(cluster.settingsVerdict).toMatchObject({ isAccepted: false, problems: [{ reason }] });
    expect(authoritiesIn(cluster)).toBe(authority.ca);
  });
});
