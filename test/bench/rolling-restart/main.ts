/**
 * Counts what clients lose while all three proxies are replaced: failed requests, lost MCP sessions, missed events.
 *
 * In a cluster of its own if this machine can have one (test/support/cluster), by the chart and the image of this
 * checkout. Otherwise, or with `local`, three proxies of this machine are behind a balancer. With `http2`, the clients of
 * the cluster speak HTTP/2.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { NodeWorld } from '../../support/node/node-world.ts';
import { endInTime } from '../support/end-in-time.ts';
import { measureLocally } from './locally.ts';
import { measureOnNode } from './on-node.ts';
import type { Rollout, SessionLosses } from './rollout.ts';

const MAX_MINUTES = 15;
const SHOWN_FAILURES = 10;
const SCRIPTS = join(import.meta.dirname, '../../support/cluster');

const isHttp2 = process.argv.includes('http2');
const isOnNode = process.env['CLUSTER_NODE_IP'] !== undefined;
if (isOnNode || process.argv.includes('local') || !canHaveNode()) {
  process.exit((await measure()) ? 0 : 1);
}
const command = [process.execPath, '--disable-warning=DEP0060', ...process.argv.slice(1)];
const { status } = spawnSync(join(SCRIPTS, 'with-cluster.sh'), command, { stdio: 'inherit' });
process.exit(status ?? 1);

function canHaveNode(): boolean {
  const { stdout } = spawnSync(join(SCRIPTS, 'kinds.sh'), { stdio: ['ignore', 'pipe', 'inherit'] });
  return stdout.toString().includes('node');
}

async function measure(): Promise<boolean> {
  const opened = new AsyncDisposableStack();
  endInTime(opened, MAX_MINUTES);
  const { rollouts, losses } = isOnNode
    ? await measureOnNode(opened.use(await NodeWorld.open({ http2: isHttp2 })))
    : await measureLocally(opened);
  await opened.disposeAsync();
  const version = isHttp2 && isOnNode ? 'HTTP/2' : 'HTTP/1.1';
  console.log(`three proxies ${isOnNode ? 'in a cluster' : 'behind a balancer'}, ${version}`);
  rollouts.forEach(reportRollout);
  reportLosses(losses);
  return rollouts.every(({ failures }) => failures.length === 0) && losses.lost === 0;
}

function reportRollout({ title, seconds, requests, failures }: Rollout): void {
  const counts = `${String(requests)} requests, ${String(failures.length)} failed`;
  console.log(`  ${title.padEnd(24)} ${seconds.toFixed(0).padStart(3)} s, ${counts}   promised: 0`);
  for (const failure of failures.slice(0, SHOWN_FAILURES)) console.log(`    ${failure}`);
}

function reportLosses({ sessions, lost, missedEvents }: SessionLosses): void {
  const counts = `${String(lost)} of ${String(sessions)} lost, ${String(missedEvents)} events missed`;
  console.log(`  ${'MCP sessions'.padEnd(24)} ${counts}   promised: 0`);
}
