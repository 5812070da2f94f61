import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import { describeEndToEnd } from '../support/kubernetes/describe-with-clusters.ts';
import { hostOf, TEAM } from '../support/kubernetes/gateway-manifests.ts';
import { routesIn } from '../support/kubernetes/paths.ts';
import { startUpstream } from '../support/upstream.ts';

describeEndToEnd('real', ['rbac', 'tokens'], 'routes of a cluster', (openCluster) => {
  const opened = new AsyncDisposableStack();
  let gateway: ClusterGateway;

  beforeAll(async () => {
    ({ gateway } = opened.use(
      await startClusterWorld(openCluster, {
        controllers: 1,
        proxies: 2,
        controllerFlags: ['--deletion-delay', '0s'],
      }),
    ));
  });
  afterAll(() => opened.disposeAsync());

  test('a Route that is applied serves on every proxy, and its status reports that', async () => {
    await gateway.applyRoute('applied');

    await gateway.untilServed('applied');
    await gateway.untilCondition('applied', 'Programmed', 'True/Programmed');
    const { status } = await gateway.route('applied');
    expect(status).toMatchObject({
      url: 'http://applied.example.test',
      observedGeneration: 1,
      programmedGeneration: 1,
    });
    expect(await gateway.condition('applied', 'Accepted')).toBe('True/Accepted');
    expect(await gateway.condition('applied', 'ResolvedRefs')).toBe('True/ResolvedRefs');
    const [proxy] = gateway.proxies;
    expect(await proxy?.hashOf('route/team/applied')).toBe(status?.configHash);
  });

  test('a change serves everywhere once its generation is programmed', async () => {
    await using other = await startUpstream((_message, response) => response.end('other'));
    await gateway.applyRoute('changing');
    await gateway.untilCondition('changing', 'Programmed', 'True/Programmed');

    await gateway.applyRoute('changing', { to: other.origin });
    await eventually('generation 2 is programmed', async () => {
      const { status } = await gateway.route('changing');
      return status?.programmedGeneration === 2;
    });

    const bodies = await Promise.all(
      gateway.proxies.map(async (proxy) => (await proxy.ask(hostOf('changing'))).body),
    );
    expect(bodies).toEqual(['other', 'other']);
  });

  test('a Route that is deleted serves on no proxy', async () => {
    await gateway.applyRoute('deleted');
    await gateway.untilServed('deleted');

    await gateway.deleteRoute('deleted');

    await eventually('no proxy serves the Route', async () =>
      (await gateway.statuses('deleted')).every((status) => status !== 200),
    );
    expect(await gateway.statuses('deleted')).toEqual([421, 421]);
  });

  test('a bad Route is reported in its status, and the others serve', async () => {
    await gateway.applyRoute('bad', {
      from: 'https://bad.example.test',
      allowPublicUnauthenticatedAccess: false,
      policy: { allow: { or: [{ emial: 'alice@example.com' }] } },
    });

    await gateway.untilCondition('bad', 'Accepted', 'False/InvalidPolicy');
    expect(await gateway.condition('bad', 'Programmed')).toBe('False/Invalid');
    const { status } = await gateway.route('bad');
    const accepted = status?.conditions?.find(({ type }) => type === 'Accepted');
    expect(accepted?.message).toContain('spec.policy.allow.or[0]');
    expect(await gateway.statuses('bad')).toEqual([421, 421]);
    expect(await gateway.statuses('first')).toEqual([200, 200]);
  });

  test('a bad update leaves the last good generation in service, until a good one replaces it', async () => {
    await gateway.applyRoute('updated');
    await gateway.untilCondition('updated', 'Programmed', 'True/Programmed');

    await gateway.applyRoute('updated', { regex: '(?=a)$' });
    await gateway.untilCondition('updated', 'Accepted', 'False/InvalidRegex');

    expect(await gateway.condition('updated', 'PartiallyInvalid')).toBe('True/ServedGeneration');
    expect((await gateway.route('updated')).status?.served).toMatchObject({
      generation: 1,
      spec: { from: 'http://updated.example.test' },
    });
    expect(await gateway.statuses('updated')).toEqual([200, 200]);

    await gateway.applyRoute('updated', { regex: '/[a-z]*' });
    await gateway.untilCondition('updated', 'Programmed', 'True/Programmed');
    const { status } = await gateway.route('updated');
    expect(status?.served).toBeUndefined();
    expect(status?.conditions?.map(({ type }) => type)).not.toContain('PartiallyInvalid');
  });

  test('the older of two Routes keeps a path that both ask for', async () => {
    await gateway.applyRoute('older');
    await gateway.untilCondition('older', 'Programmed', 'True/Programmed');

    await gateway.applyRoute('younger', { from: `http://${hostOf('older')}` });

    await gateway.untilCondition('younger', 'Accepted', 'False/HostConflict');
    expect(await gateway.condition('older', 'Accepted')).toBe('True/Accepted');
    await gateway.deleteRoute('older');
    await gateway.untilCondition('younger', 'Programmed', 'True/Programmed');
    expect(await gateway.statuses('older')).toEqual([200, 200]);
  });

  test('a Route that moves to another class reports that, and serves again when it returns', async () => {
    await gateway.applyRoute('leaving');
    await gateway.untilCondition('leaving', 'Programmed', 'True/Programmed');

    await gateway.applyRoute('leaving', { gatewayClassName: 'other' });

    await gateway.untilCondition('leaving', 'Programmed', 'False/OtherGatewayClass');
    await eventually('nothing else is left of the status', async () => {
      const { status } = await gateway.route('leaving');
      return (
        Object.keys(status ?? {})
          .sort()
          .join() === 'conditions,observedGeneration'
      );
    });
    const { status } = await gateway.route('leaving');
    expect(status?.conditions).toMatchObject([{ type: 'Programmed', observedGeneration: 2 }]);
    await untilAnswered('leaving', 421);
    await gateway.applyRoute('leaving');
    await gateway.untilCondition('leaving', 'Programmed', 'True/Programmed');
    expect(await gateway.condition('leaving', 'Accepted')).toBe('True/Accepted');
  });

  test('a Route that is deleted and waits for a finalizer does not serve, and reports that', async () => {
    await gateway.applyRoute('finalized');
    await gateway.untilCondition('finalized', 'Programmed', 'True/Programmed');
    await setFinalizers('finalized', ['example.test/wait']);

    await gateway.deleteRoute('finalized');

    await gateway.untilCondition('finalized', 'Programmed', 'False/Deleting');
    expect(await gateway.condition('finalized', 'Accepted')).toBe('False/Deleting');
    await untilAnswered('finalized', 421);
    await setFinalizers('finalized', []);
    await expect(gateway.route('finalized')).rejects.toThrow('not found');
  });

  test('the controller needs no rights beyond its own, and processes write nothing but their logs', () => {
    const members = [...gateway.controllers, ...gateway.proxies];

    expect(members.map(({ stderr }) => stderr)).toEqual(['', '', '']);
    const log = gateway.controllers.flatMap((controller) => controller.log);
    expect(log.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  async function untilAnswered(route: string, status: number): Promise<void> {
    await eventually(`${route} is answered with ${String(status)}`, async () =>
      (await gateway.statuses(route)).every((each) => each === status),
    );
  }

  async function setFinalizers(route: string, finalizers: readonly string[]): Promise<void> {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = { metadata: { finalizers } };
    await gateway.admin.request('PATCH', `${routesIn(TEAM)}/${route}`, body, headers);
  }
});
