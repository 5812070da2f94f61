import { eventually } from '../../support/eventually.ts';
import { kubectl } from '../../support/node/kubectl.ts';
import { PROXIES_NAMESPACE } from '../../support/node/node-manifests.ts';
import type { NodeWorld } from '../../support/node/node-world.ts';
import { proxyPods } from '../../support/node/proxy-pods.ts';
import { VALUES, release } from '../../support/node/release.ts';
import { countLosses, measureRollout, type Rollout, type SessionLosses } from './rollout.ts';

const PROXIES = 3;
const SESSIONS = 3;
const DEPLOYMENT = 'deployment/gatehouse-proxy';
const END_DEADLINE_MS = 180_000;

/** Replaces the proxies of a release twice, inside of a cluster: by an upgrade and by a restart. */
export async function measureOnNode(
  world: NodeWorld,
): Promise<{ readonly rollouts: readonly Rollout[]; readonly losses: SessionLosses }> {
  await using opened = new AsyncDisposableStack();
  await world.createNamespaces();
  await release.install({ ...VALUES, proxy: { replicas: PROXIES } });
  await release.balance();
  await world.applySettings();
  await world.applyRoutes();
  await world.untilServed();
  const client = opened.use(world.openClient());
  await client.callTool('whoami');
  const sessions = [];
  for (let count = 0; count < SESSIONS; count += 1) {
    sessions.push(opened.use(await world.beginSession(client.accessToken)));
  }
  const traffic = opened.use(world.startTraffic(...sessions));
  const rollouts = [
    await measureRollout('helm upgrade', traffic, async () => {
      await release.upgrade({ proxy: { podAnnotations: { 'example.test/change': 'first' } } });
      await untilOldAreGone();
    }),
    await measureRollout('kubectl rollout restart', traffic, async () => {
      await kubectl('--namespace', PROXIES_NAMESPACE, 'rollout', 'restart', DEPLOYMENT);
      await kubectl('--namespace', PROXIES_NAMESPACE, 'rollout', 'status', DEPLOYMENT);
      await untilOldAreGone();
    }),
  ];
  await traffic[Symbol.asyncDispose]();
  return { rollouts, losses: await countLosses(sessions, world.mcpServer.lastNumber()) };
}

/** A rollout is over for Kubernetes while old proxies still drain. */
async function untilOldAreGone(): Promise<void> {
  await eventually(
    'the old proxies are gone',
    async () => (await proxyPods()).length === PROXIES,
    END_DEADLINE_MS,
  );
}
