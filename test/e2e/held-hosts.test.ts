import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';

import type { Route } from '../../crds/types.ts';
import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import { describeEndToEnd } from '../support/kubernetes/describe-with-clusters.ts';
import { INSTALL_NAMESPACE, namespaceManifests } from '../support/kubernetes/gateway-manifests.ts';
import { coreIn, routesIn } from '../support/kubernetes/paths.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const RECORD = `${coreIn(INSTALL_NAMESPACE, 'configmaps')}/gatehouse-hosts`;
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

describeEndToEnd(
  'fake',
  ['rbac', 'tokens'],
  'a host that another namespace waits for',
  (openCluster, kind) => {
    const opened = new AsyncDisposableStack();
    let gateway: ClusterGateway;
    let upstreams: Readonly<Record<string, Upstream>>;

    beforeAll(async () => {
      const own = opened.use(await startUpstream((_message, response) => response.end('own')));
      const evil = opened.use(await startUpstream((_message, response) => response.end('evil')));
      upstreams = { own, evil };
      ({ gateway } = opened.use(
        await startClusterWorld(openCluster, {
          controllers: 2,
          proxies: 1,
          controllerFlags: ['--deletion-delay', '0s'],
        }),
      ));
      await gateway.admin.apply(namespaceManifests('own', 'evil'));
    });
    afterAll(() => opened.disposeAsync());

    // Attack: `kubectl replace --force`, a new installation by helm and a restore delete before they create.
    test('never serves the waiting Route while the Route of its owner is replaced', async () => {
      const host = 'replaced.example.test';
      await contest(host);
      const bodies = new Set<string>();
      for (let round = 0; round < 3; round += 1) {
        await remove(host);
        await eventually('the host serves nobody', async () => (await body(host)) !== 'own');
        bodies.add(await body(host));
        await untilHeld(host);
        await apply('own', host);
        await eventually('the owner serves', async () => (await body(host)) === 'own');
      }
      expect([...bodies]).not.toContain('evil');
    });

    test('stays held when another controller leads, and goes to the waiting Route once it is released', async () => {
      const host = 'failover.example.test';
      await contest(host);
      await remove(host);
      await eventually('the hold is stored', async () =>
        (await recordOf(host)).includes('vacantSince'),
      );
      const leader = await gateway.leader();
      expect(await leader.terminate()).toBe(0);
      await gateway.applyRoute('of-the-next-leader');
      await gateway.untilServed('of-the-next-leader');
      expect(await body(host)).not.toBe('evil');
      await untilHeld(host);

      await release(host);
      await eventually('the waiting Route serves', async () => (await body(host)) === 'evil');
    });

    // Attack: the Route of the wildcard would get the requests, with the cookies of the owner's users.
    test('is not served by the wildcard of another namespace either, until it is released', async () => {
      const host = 'app.wild.example.test';
      await apply('own', host);
      await apply('evil', '*.wild.example.test');
      await eventually('the owner serves', async () => (await body(host)) === 'own');
      await eventually(
        'the wildcard serves',
        async () => (await body('b.wild.example.test')) === 'evil',
      );
      const bodies = await bodiesDuring(host, async () => {
        for (let round = 0; round < 3; round += 1) {
          await remove(host);
          await eventually('the host serves nobody', async () => (await body(host)) !== 'own');
          await apply('own', host);
          await eventually('the owner serves', async () => (await body(host)) === 'own');
        }
      });
      expect(bodies).toContain('own');
      expect(bodies).not.toContain('evil');

      await remove(host);
      await eventually('the hold is stored', async () =>
        (await recordOf(host)).includes('vacantSince'),
      );
      expect(await body(host)).not.toBe('evil');
      expect(await body('b.wild.example.test')).toBe('evil');
      await release(host);
      await eventually('the wildcard serves', async () => (await body(host)) === 'evil');
    });

    test('goes to the waiting Route when the time of the settings is over', async () => {
      const host = 'expired.example.test';
      await gateway.changeSettings({ hostHoldTime: '2s' });
      await contest(host);
      await remove(host);
      await untilReleased(host);
      expect(await body(host)).toBe('evil');
    });

    if (kind === 'envtest') {
      console.warn('skipped on envtest, which has no namespace controller: the end of a namespace');
      return;
    }
    test('goes to the waiting Route when the namespace is deleted', async () => {
      const host = 'ended.example.test';
      await gateway.changeSettings({});
      await contest(host);
      await gateway.admin.request('DELETE', '/api/v1/namespaces/own');
      await untilReleased(host);
      expect(await body(host)).toBe('evil');
    });

    /** Waits until the waiting Route serves, and the record of held hosts is without the host. */
    async function untilReleased(host: string): Promise<void> {
      await eventually('the waiting Route serves', async () => (await body(host)) === 'evil');
      await eventually('the record is without it', async () => (await recordOf(host)) === '');
    }

    /** Namespace `own` serves a host, and a Route of namespace `evil` waits for it. */
    async function contest(host: string): Promise<void> {
      await apply('own', host);
      await eventually('the owner serves', async () => (await body(host)) === 'own');
      await apply('evil', host);
      await eventually('the other waits', async () =>
        (await problem('evil', host)).includes('the host belongs to namespace own'),
      );
    }

    async function untilHeld(host: string): Promise<void> {
      const message = 'the host belongs to namespace own, for which it is held until ';
      await eventually('its status says so', async () =>
        (await problem('evil', host)).includes(message),
      );
    }

    /** Removes the hold of a host, as an operator does. */
    async function release(host: string): Promise<void> {
      const patch = [{ op: 'remove', path: `/data/${host}` }];
      await gateway.admin.request('PATCH', RECORD, patch, JSON_PATCH);
    }

    /** Asks for a host again and again while something runs. */
    async function bodiesDuring(
      host: string,
      run: () => Promise<void>,
    ): Promise<ReadonlySet<string>> {
      const bodies = new Set<string>();
      let isRunning = true;
      const hasEnded = (): boolean => !isRunning;
      const asking = (async () => {
        while (!hasEnded()) bodies.add(await body(host));
      })();
      try {
        await run();
      } finally {
        isRunning = false;
        await asking;
      }
      return bodies;
    }

    async function apply(namespace: string, host: string): Promise<void> {
      const to = upstreams[namespace]?.origin;
      const spec = { from: `http://${host}`, to, allowPublicUnauthenticatedAccess: true };
      const metadata = { name: host.replace('*', 'all'), namespace };
      const apiVersion = 'gatehouse.dev/v1alpha1';
      await gateway.admin.apply(stringify({ apiVersion, kind: 'Route', metadata, spec }));
    }

    async function remove(host: string): Promise<void> {
      await gateway.admin.request('DELETE', `${routesIn('own')}/${host}`);
    }

    async function body(host: string): Promise<string> {
      const [proxy] = gateway.proxies;
      return proxy === undefined ? '' : (await proxy.ask(host)).body;
    }

    async function problem(namespace: string, host: string): Promise<string> {
      const path = `${routesIn(namespace)}/${host}`;
      const { status } = (await gateway.admin.request('GET', path)) as Route;
      const accepted = status?.conditions?.find(({ type }) => type === 'Accepted');
      return accepted?.status === 'False' ? accepted.message : '';
    }

    async function recordOf(host: string): Promise<string> {
      const { data } = (await gateway.admin.request('GET', RECORD)) as {
        readonly data: Readonly<Record<string, string>>;
      };
      return data[host] ?? '';
    }
  },
);
