import { median } from '../support/percentile.ts';
import { cpuOfTree } from '../support/process-cpu.ts';
import { download, upload, type BodyFraming } from './body-clients.ts';
import type { StreamsWorld } from './streams-world.ts';
import { BODY_BYTES } from './workload.ts';

const ROUNDS = 5;
const MEBIBYTE = 1024 * 1024;
const FRAMINGS: readonly BodyFraming[] = ['Content-Length', 'chunked'];

interface Proxy {
  readonly pid: number;
  readonly port: number;
}

/** Measures and prints what large bodies cost, through a public route and through nginx. */
export async function measureBodies(world: StreamsWorld): Promise<void> {
  const { nginx } = world;
  const gateway = await world.startGateway('public');
  const proxies: readonly Proxy[] = nginx === undefined ? [gateway] : [gateway, nginx];
  console.log('\n100 MiB in one body; CPU microseconds a MiB');
  for (const transfer of [download, upload]) {
    for (const framing of FRAMINGS) {
      const costs = await measureRounds(proxies, (port) => transfer(port, framing));
      printCosts(`${transfer.name}, ${framing}`, costs);
    }
  }
}

/** Returns the costs of each proxy, one value a round. Begins with a round that does not count. */
async function measureRounds(
  proxies: readonly Proxy[],
  transfer: (port: number) => Promise<void>,
): Promise<readonly (readonly number[])[]> {
  const costs: number[][] = proxies.map(() => []);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [at, { pid, port }] of proxies.entries()) {
      const start = cpuOfTree(pid);
      await transfer(port);
      const cost = (cpuOfTree(pid) - start) / (BODY_BYTES / MEBIBYTE);
      if (round > 0) costs[at]?.push(cost);
    }
  }
  return costs;
}

function printCosts(name: string, [ours = [], theirs]: readonly (readonly number[])[]): void {
  const cost = median(ours).toFixed(0).padStart(5);
  if (theirs === undefined) {
    console.log(`  ${name.padEnd(25)} ${cost}`);
    return;
  }
  const ratios = ours.map((value, round) => value / (theirs[round] ?? NaN));
  const rounds = ratios.map((ratio) => ratio.toFixed(2)).join(' ');
  const times = median(ratios).toFixed(2);
  console.log(
    `  ${name.padEnd(25)} ${cost}   ${times} x nginx, aim at most 1.3 (rounds: ${rounds})`,
  );
}
