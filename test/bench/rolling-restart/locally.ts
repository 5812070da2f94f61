import { Agent, buildConnector } from 'undici';

import { startClusterWorld } from '../../support/kubernetes/cluster-world.ts';
import { startFakeCluster } from '../../support/kubernetes/fake/start-fake-cluster.ts';
import { hostOf } from '../../support/kubernetes/gateway-manifests.ts';
import type { ProxyMember } from '../../support/kubernetes/proxy-member.ts';
import { LiveSession } from '../../support/node/live-session.ts';
import { helloAfter, ordinaryClients } from '../../support/node/ordinary-clients.ts';
import { startResumableMcpServer } from '../../support/node/resumable-mcp-server.ts';
import { Traffic } from '../../support/node/traffic.ts';
import { startTcpService } from '../../support/tcp-service.ts';
import { startUpstream } from '../../support/upstream.ts';
import { countLosses, measureRollout, type Rollout, type SessionLosses } from './rollout.ts';

const PROXIES = 3;
const SESSIONS = 3;
/** How often the balancer asks whether a proxy is ready, as Kubernetes does. */
const PROBE_MS = 1000;
const ROLLOUTS = ['first restart', 'second restart'];

/**
 * Replaces proxies of this machine behind a balancer that notices late. Its routes are public: sessions pass by a route
 * without MCP.
 */
export async function measureLocally(
  opened: AsyncDisposableStack,
): Promise<{ readonly rollouts: readonly Rollout[]; readonly losses: SessionLosses }> {
  const { gateway } = opened.use(
    await startClusterWorld(startFakeCluster, {
      controllers: 1,
      proxies: PROXIES,
      proxyFlags: ['--drain-delay', '10s'],
    }),
  );
  const ready = new Map<ProxyMember, number>();
  const probe = setInterval(() => void probeAll(gateway.proxies, ready), PROBE_MS);
  opened.defer(() => clearInterval(probe));
  await probeAll(gateway.proxies, ready);
  const balancer = opened.use(await startTcpService(() => [...ready.values()]));
  const newFetch = ({ keep }: { readonly keep: boolean }): typeof fetch =>
    fetchThrough(balancer.port, keep);

  const mcpServer = opened.use(await startResumableMcpServer('notes'));
  const web = opened.use(
    await startUpstream((message, response) => {
      message.resume();
      setTimeout(() => response.end('hello'), helloAfter(message.url));
    }),
  );
  await gateway.applyRoute('web', { to: web.origin });
  await gateway.applyRoute('mcp', { to: mcpServer.origin });
  await gateway.untilServed('web');
  await gateway.untilCondition('mcp', 'Programmed', 'True/Programmed');
  const sessions: LiveSession[] = [];
  for (let count = 0; count < SESSIONS; count += 1) {
    const url = `http://${hostOf('mcp')}/mcp`;
    sessions.push(opened.use(await LiveSession.begin({ url, fetch: newFetch({ keep: true }) })));
  }
  const url = `http://${hostOf('web')}`;
  const traffic = opened.use(new Traffic(ordinaryClients({ url, newFetch, sessions })));
  const rollouts: Rollout[] = [];
  for (const title of ROLLOUTS) {
    const replace = async (): Promise<void> => {
      for (const old of [...gateway.proxies]) {
        const added = await gateway.addProxy();
        await gateway.untilServed('web', { proxies: [added] });
        await gateway.dropProxy(old);
      }
    };
    rollouts.push(await measureRollout(title, traffic, replace));
  }
  await traffic[Symbol.asyncDispose]();
  return { rollouts, losses: await countLosses(sessions, mcpServer.lastNumber()) };
}

async function probeAll(
  proxies: readonly ProxyMember[],
  ready: Map<ProxyMember, number>,
): Promise<void> {
  for (const gone of [...ready.keys()].filter((proxy) => !proxies.includes(proxy))) {
    ready.delete(gone);
  }
  for (const proxy of proxies) {
    if (await isReady(proxy)) ready.set(proxy, await proxy.port());
    else ready.delete(proxy);
  }
}

async function isReady(proxy: ProxyMember): Promise<boolean> {
  if (!proxy.hasLogged('listening')) return false;
  try {
    return (await proxy.admin('/readyz')).status === 200;
  } catch {
    return false;
  }
}

/** Sends every request to a port of this machine, whatever its URL. */
function fetchThrough(port: number, keep: boolean): typeof fetch {
  const connect = buildConnector({});
  const dispatcher = new Agent({
    connect: (options, done) =>
      connect({ ...options, hostname: '127.0.0.1', port: String(port) }, done),
    ...(!keep && { pipelining: 0 }),
  });
  return (input, init) => {
    // Node's own `fetch` takes a dispatcher of undici, which its type does not say.
    const options: RequestInit = Object.assign({}, init, { dispatcher });
    return fetch(input, options);
  };
}
