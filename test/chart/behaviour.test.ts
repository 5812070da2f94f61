import { expect, test } from '@jest/globals';

import { PROXY_LINE } from '../../cli/commands/proxy/proxy-flags.ts';
import { CONTROLLER_LINE } from '../../cli/commands/controller/controller-flags.ts';
import { CREATE_SECRETS_LINE } from '../../cli/commands/create-secrets/create-secrets-flags.ts';
import { TEST_INSTALL_LINE } from '../../cli/commands/test-install/test-install-flags.ts';
import { readArguments, type CommandLine } from '../../cli/arguments.ts';
import { describeChart } from '../support/chart/describe-chart.ts';
import {
  findObject,
  renderChart,
  WITH_PROMETHEUS_OPERATOR,
  type RenderedObject,
} from '../support/chart/helm.ts';
import { podsOf, referencesOf } from '../support/chart/pods.ts';
import { VALUE_SETS } from '../support/chart/value-sets.ts';

const LINES: readonly CommandLine[] = [
  PROXY_LINE,
  CONTROLLER_LINE,
  CREATE_SECRETS_LINE,
  TEST_INSTALL_LINE,
];

interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

describeChart('what the chart renders', () => {
  const sets = VALUE_SETS.map(({ name, values }) => ({
    name,
    objects: renderChart(values, WITH_PROMETHEUS_OPERATOR),
  }));

  test.each(sets)('starts commands with arguments that they accept, with $name', ({ objects }) => {
    const containers = podsOf(objects).flatMap(({ spec }) => spec.containers as Container[]);
    const started = containers.flatMap(({ args = [], env = [] }) => {
      const [command, ...argv] = args;
      const line = LINES.find(({ name }) => name === command);
      if (line === undefined) return [];
      const variables = Object.fromEntries(env.map(({ name, value }) => [name, value ?? 'x']));
      expect(() => readArguments(line, argv, variables)).not.toThrow();
      return [line.name];
    });
    expect(started).toEqual(expect.arrayContaining(['controller', 'proxy', 'test-install']));
  });

  test.each(sets)('sets variables that commands read, with $name', ({ objects }) => {
    const known = LINES.flatMap(({ flags }) =>
      Object.values(flags).flatMap(({ environment }) => environment ?? []),
    );
    const set = podsOf(objects)
      .flatMap(({ spec }) => spec.containers as Container[])
      .flatMap(({ env = [] }) => env.map(({ name }) => name))
      .filter((name) => name.startsWith('GATEHOUSE_'));
    expect(set.filter((name) => !known.includes(name))).toEqual([]);
  });

  test('gives a proxy as long to end as it may drain, and 15 seconds', () => {
    const objects = renderChart({ proxy: { drain: { delaySeconds: 7, timeoutSeconds: 100 } } });
    expect(findObject(objects, 'Deployment', 'gatehouse-proxy')).toMatchObject({
      spec: { template: { spec: { terminationGracePeriodSeconds: 122 } } },
    });
  });

  test('leaves the number of proxies to the autoscaler', () => {
    const objects = renderChart({ proxy: { autoscaling: { enabled: true } } });
    const { spec } = findObject(objects, 'Deployment', 'gatehouse-proxy');
    expect(spec).not.toHaveProperty('replicas');
  });

  test('starts new proxies when the sealing keys change, and not otherwise', () => {
    const template = (values: object): unknown =>
      findObject(renderChart(values), 'Deployment', 'gatehouse-proxy')['spec'];
    const rotated = template({ secrets: { sealingKeys: { next: '2027-01-01' } } });
    expect(rotated).not.toEqual(template({}));
    expect(template({ secrets: { pushTls: { rotation: 'a' } } })).toEqual(template({}));
  });

  test('has settings and Routes as hooks while their definitions are not there, and else not', () => {
    const values = { routes: [{ name: 'a', spec: { from: 'https://a.example.com' } }] };
    const hooksOf = (apiVersions: readonly string[]): readonly (string | undefined)[] =>
      renderChart(values, { apiVersions })
        .filter(
          ({ kind, metadata }) =>
            /^(GatewaySettings|Route)$/.test(kind) && metadata.name !== 'gatehouse-test',
        )
        .map(({ metadata }) => metadata.annotations?.['helm.sh/hook']);
    const afterAll = 'post-install,post-upgrade,post-rollback';
    expect(hooksOf([])).toEqual([afterAll, afterAll]);
    expect(hooksOf(['gatehouse.dev/v1alpha1/Route'])).toEqual([undefined, undefined]);
  });

  // Attack: an uninstallation by mistake would end every session, and lose every connected account.
  // Attack: Argo CD deletes hooks, by any policy that there is, after a success or after a failure of anything.
  test('never deletes the namespace with the sealing keys, nor the settings', () => {
    const objects = renderChart({});
    const { metadata } = findObject(objects, 'Namespace', 'gatehouse-proxy');
    expect(metadata.annotations).toEqual({
      'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
      'argocd.argoproj.io/sync-wave': '-30',
      'helm.sh/resource-policy': 'keep',
    });
    expect(findObject(objects, 'GatewaySettings', 'gatehouse').metadata.annotations).toMatchObject({
      'helm.sh/resource-policy': 'keep',
    });
  });

  test('makes secrets after the namespace and before the pods, in Argo CD too', () => {
    const hooks = renderChart({}).filter(({ metadata }) =>
      metadata.name.startsWith('gatehouse-secrets'),
    );
    expect(new Set(hooks.map(({ kind }) => kind))).toEqual(
      new Set(['ServiceAccount', 'Role', 'RoleBinding', 'Job']),
    );
    for (const { kind, metadata } of hooks) {
      expect(metadata.annotations).toMatchObject({
        'argocd.argoproj.io/hook': 'Sync',
        'helm.sh/hook-weight': kind === 'Job' ? '-10' : '-20',
      });
    }
  });

  test('makes no secret that somebody else has', () => {
    const minimal = sets.find(({ name }) => name === 'minimal')?.objects ?? [];
    expect(minimal.filter(({ kind }) => kind === 'Job')).toEqual([]);
    const withRedis = renderChart({ redis: { existingSecret: 'mine' } });
    expect(JSON.stringify(findObject(withRedis, 'Job', 'gatehouse-secrets'))).not.toContain(
      'redis',
    );
  });

  test.each([
    [
      'sealing keys',
      { secrets: { sealingKeys: { existingSecret: 'mine' } } },
      ['Secret gatehouse-proxy/mine'],
      /gatehouse-sealing-keys|--sealing-keys/,
    ],
    [
      'the certificate of the controllers',
      { secrets: { pushTls: { existingSecret: 'mine', existingAuthority: 'my-authority' } } },
      ['Secret gatehouse/mine', 'ConfigMap gatehouse-proxy/my-authority'],
      /--push-|gatehouse-push/,
    ],
    [
      'the address of Redis',
      { redis: { existingSecret: 'mine' } },
      ['Secret gatehouse-proxy/mine'],
      /gatehouse-redis|--redis-/,
    ],
  ])('uses %s of somebody else, and neither makes them nor may', (_what, values, used, own) => {
    const objects = renderChart(values);
    const pods = podsOf(objects);
    expect(pods.flatMap(referencesOf)).toEqual(expect.arrayContaining(used));
    const rights = objects.filter(({ kind }) => kind.endsWith('Role'));
    expect(JSON.stringify([pods, rights])).not.toMatch(own);
    expect(JSON.stringify(rights)).not.toContain('"mine"');
  });

  test('changes only what can be changed of Redis when it is given a volume', () => {
    const redisWith = (enabled: boolean) =>
      renderChart({ redis: { bundled: { persistence: { enabled } } } });
    const fixedPart = (objects: readonly RenderedObject[]): unknown => {
      const { spec } = findObject(objects, 'StatefulSet', 'gatehouse-redis');
      return { ...Object(spec), template: undefined };
    };
    expect(fixedPart(redisWith(true))).toEqual(fixedPart(redisWith(false)));
    expect(JSON.stringify(fixedPart(redisWith(true)))).not.toContain('volumeClaimTemplates');

    const volume = findObject(redisWith(true), 'PersistentVolumeClaim', 'gatehouse-redis-data');
    expect(volume.metadata.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
    const [pod] = podsOf(redisWith(true)).filter(({ owner }) => owner.startsWith('StatefulSet'));
    expect(pod?.spec.volumes).toContainEqual({
      name: 'data',
      persistentVolumeClaim: { claimName: volume.metadata.name },
    });
  });

  test('has no Service with the admin port', () => {
    const ports = sets
      .flatMap(({ objects }) => objects)
      .filter(({ kind }) => kind === 'Service')
      .flatMap(({ spec }) => (spec as { ports: readonly { targetPort: string }[] }).ports);
    expect(new Set(ports.map(({ targetPort }) => targetPort))).toEqual(
      new Set(['push', 'http', 'https', 'redis']),
    );
  });
});
