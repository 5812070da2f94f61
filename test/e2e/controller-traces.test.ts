import { hostname } from 'node:os';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { Collector } from '../support/collector/collector.ts';
import type { SpanTree } from '../support/collector/span-tree.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import { startFakeCluster } from '../support/kubernetes/fake/start-fake-cluster.ts';

describe('the trace of a change in a cluster', () => {
  const opened = new AsyncDisposableStack();
  let collector: Collector;
  let gateway: ClusterGateway;

  beforeAll(async () => {
    collector = opened.use(await Collector.start());
    const variables = {
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint('http/protobuf'),
      OTEL_BSP_SCHEDULE_DELAY: '100',
    };
    ({ gateway } = opened.use(
      await startClusterWorld(startFakeCluster, {
        ...{ controllers: 2, proxies: 2 },
        controllerVariables: [variables, variables],
        proxyVariables: () => variables,
      }),
    ));
  });
  afterAll(() => opened.disposeAsync());

  test('goes from the watch event to every proxy and back to the status', async () => {
    await gateway.untilCondition('first', 'Programmed', 'True/Programmed');
    await gateway.applyRoute('traced');
    await gateway.untilCondition('traced', 'Programmed', 'True/Programmed');
    const root = await collector.span('the change', ({ name, attributes }) => {
      const routes = attributes['gatehouse.change.routes'];
      return name === 'change' && Array.isArray(routes) && routes.includes('team/traced');
    });
    const names = (trees: readonly SpanTree[]): readonly string[] =>
      trees.flatMap(({ span, children }) => [span.name, ...names(children)]);
    const tree = () => collector.trace(root.traceId);
    await eventually('all of it arrived', () => names(tree()).length >= 8);

    const outline = (trees: readonly SpanTree[], depth = 0): readonly string[] =>
      trees.flatMap(({ span, children }) => [
        [
          ' '.repeat(depth) + span.name,
          String(span.resource['service.name']),
          span.kind,
          String(span.attributes['gatehouse.proxy.id'] ?? ''),
        ]
          .join(' ')
          .trim(),
        ...outline(children, depth + 1),
      ]);
    const withoutOrder = outline(tree()).toSorted();
    expect([...new Set(withoutOrder.map((line) => line.trim()))].toSorted()).toEqual(
      [
        'change gatehouse-controller internal',
        'compile gatehouse-controller internal',
        'publish gatehouse-controller internal',
        'snapshot delivery gatehouse-controller client gatehouse-proxy-0',
        'snapshot delivery gatehouse-controller client gatehouse-proxy-1',
        'apply snapshot gatehouse-proxy server',
        'status write gatehouse-controller client',
      ].toSorted(),
    );
    const [change] = tree();
    expect(tree()).toHaveLength(1);
    const publish = change?.children.find(({ span }) => span.name === 'publish');
    const deliveries = publish?.children.map(({ children }) => names(children));
    expect(deliveries).toEqual([['apply snapshot'], ['apply snapshot']]);
    const status = change?.children.find(({ span }) => span.name === 'status write')?.span;
    expect(status?.attributes['gatehouse.resource.key']).toBe('route/team/traced');
    expect(root.status.code).toBe('unset');
  });

  test('says which process each span is of', async () => {
    const instances = (service: string): ReadonlySet<unknown> => {
      const resources = collector.spans.map(({ resource }) => resource);
      const ofService = resources.filter((resource) => resource['service.name'] === service);
      return new Set(ofService.map((resource) => resource['service.instance.id']));
    };
    await gateway.untilCondition('first', 'Programmed', 'True/Programmed');

    await eventually('both proxies are named', () => instances('gatehouse-proxy').size === 2);
    expect(instances('gatehouse-proxy')).toEqual(
      new Set(['gatehouse-proxy-0', 'gatehouse-proxy-1']),
    );
    expect(instances('gatehouse-controller')).toEqual(new Set([hostname()]));
  });

  test('is named in the audit log of the leader', async () => {
    const leader = await gateway.leader();
    const records = leader.log.filter(({ service }) => service === 'audit');
    const published = records.find(({ changes = [] }) =>
      JSON.stringify(changes).includes('route/team/traced'),
    );
    const [follower] = await gateway.followers();

    expect(records[0]).toMatchObject({ event: 'configuration-taken-over' });
    expect(published).toMatchObject({
      ...{ event: 'configuration-published', publisher: leader.identity, level: 'info' },
      changes: [{ key: 'route/team/traced', change: 'added', generation: 1 }],
    });
    expect(collector.trace(String(published?.['trace-id']))).toHaveLength(1);
    expect(follower?.log.filter(({ service }) => service === 'audit')).toEqual([]);
  });
});
