import { expect, test } from '@jest/globals';

import { describeChart } from '../support/chart/describe-chart.ts';
import { renderText } from '../support/chart/helm.ts';

const BAD_VALUES: readonly { readonly values: object; readonly message: string }[] = [
  {
    values: { proxy: { replica: 3 } },
    message: "at '/proxy': additional properties 'replica' not allowed",
  },
  {
    values: { controller: { replicas: -1 } },
    message: "at '/controller/replicas': minimum: got -1, want 0",
  },
  {
    values: { proxy: { service: { type: 'Loadbalancer' } } },
    message:
      "at '/proxy/service/type': value must be one of 'LoadBalancer', 'NodePort', 'ClusterIP'",
  },
  {
    values: { proxy: { drain: { delaySeconds: '10s' } } },
    message: "at '/proxy/drain/delaySeconds': got string, want integer",
  },
  {
    values: { image: { digest: 'latest' } },
    message: "at '/image/digest': 'latest' does not match pattern",
  },
  // Attack: what follows a blank and # would be a comment, without an error.
  {
    values: { image: { tag: '1 # ' } },
    message: "at '/image/tag': '1 # ' does not match pattern",
  },
  {
    values: { redis: { bundled: { image: { tag: '8 # x' } } } },
    message: "at '/redis/bundled/image/tag': '8 # x' does not match pattern",
  },
  {
    values: { proxy: { cache: { sizeLimit: 'much' } } },
    message: "at '/proxy/cache/sizeLimit': 'much' does not match pattern",
  },
  { values: { routes: [{ name: 'a' }] }, message: "at '/routes/0': missing property 'spec'" },
  {
    values: { secrets: { sealingKeys: { next: '0-2027' } } },
    message: "at '/secrets/sealingKeys/next': '0-2027' does not match pattern",
  },
  {
    values: { redis: { bundled: { enabled: false } } },
    message: 'redis: proxies need Redis. Set redis.existingSecret',
  },
  {
    values: { secrets: { pushTls: { existingSecret: 'mine' } } },
    message: 'secrets.pushTls.existingAuthority: name the ConfigMap',
  },
  {
    values: { secrets: { pushTls: { existingAuthority: 'mine' } } },
    message: 'secrets.pushTls.existingSecret: name the Secret',
  },
  {
    values: { proxy: { namespace: { name: 'gatehouse' } } },
    message: 'proxy.namespace.name: gatehouse is the namespace of the controllers',
  },
  {
    values: { proxy: { namespace: { name: 'edge', sameAsController: true } } },
    message: 'proxy.namespace.name: leave it empty with proxy.namespace.sameAsController',
  },
  {
    values: { proxy: { autoscaling: { minReplicas: 5, maxReplicas: 4 } } },
    message: 'proxy.autoscaling.minReplicas: it is above proxy.autoscaling.maxReplicas',
  },
  {
    values: { proxy: { serviceAccount: { create: false } } },
    message: 'proxy.serviceAccount.name: name the ServiceAccount',
  },
  // Attack: a namespace of Routes that is that of the sealing keys would let controllers read them.
  {
    values: { routeSecretNamespaces: ['gatehouse-proxy'] },
    message:
      'routeSecretNamespaces: gatehouse-proxy has the sealing keys, which no controller may read',
  },
  {
    values: { rbac: { secretNames: ['client'] }, routeSecretNamespaces: ['gatehouse'] },
    message: 'routeSecretNamespaces: with gatehouse controllers may read all its Secrets',
  },
  {
    values: { metrics: { podMonitor: { enabled: true } } },
    message:
      'Install the Prometheus Operator first; helm template without a cluster needs --api-versions',
  },
  {
    values: {
      routes: [
        { name: 'a', spec: {} },
        { name: 'a', namespace: 'gatehouse', spec: {} },
      ],
    },
    message: 'routes: gatehouse/a is there twice',
  },
];

describeChart('the chart refuses', () => {
  test.each(BAD_VALUES)(
    'values with a message that names them: $message',
    ({ values, message }) => {
      expect(() => renderText(values)).toThrow(message);
    },
  );

  // The API server would refuse the Services, after everything else is installed.
  test.each([
    ['1st-gatehouse', {}],
    ['gate.house', { nameOverride: 'gate' }],
    ['gatehouse', { fullnameOverride: '9gateways' }],
  ])('release %s if Services cannot be named after it', (release, values) => {
    expect(() => renderText(values, { release })).toThrow('fullnameOverride: Services cannot be');
  });

  test('no such release that has another name for its objects', () => {
    expect(renderText({ fullnameOverride: 'first' }, { release: '1st-gatehouse' })).toContain(
      'name: "first-proxy"',
    );
  });
});
