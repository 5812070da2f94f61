import { canCountInstructions, countInstructions } from '../support/instructions.ts';
import { median } from '../support/percentile.ts';
import { cpuOfTree } from '../support/process-cpu.ts';
import { download, upload, type BodyFraming } from './body-clients.ts';
import type { StreamsWorld } from './streams-world.ts';
import { BODY_BYTES } from './workload.ts';

/** Transfers before those that count. V8 needs about two gigabytes until it has compiled all that they use. */
const WARM_UP = 20;
const ROUNDS = 7;
const MEBIBYTES = BODY_BYTES / (1024 * 1024);
const THOUSAND = 1000;
const FRAMINGS: readonly BodyFraming[] = ['Content-Length', 'chunked'];

interface Proxy {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
}

/** What a mebibyte cost a proxy, one value a round. */
interface Costs {
  readonly name: string;
  /** CPU microseconds. */
  readonly cpu: number[];
  /** Thousand instructions; none where they cannot be counted. */
  readonly user: number[];
  readonly kernel: number[];
}

type Transfer = (port: number) => Promise<void>;

/** Measures and prints what large bodies cost, through a public route, through nginx and through a bare relay. */
export async function measureBodies(world: StreamsWorld): Promise<void> {
  const proxies = await startProxies(world);
  const canCount = canCountInstructions();
  console.log('\n100 MiB in one body; for each MiB CPU microseconds, thousand instructions');
  for (const transfer of [download, upload]) {
    for (const framing of FRAMINGS) {
      const costs = await measureRounds(proxies, (port) => transfer(port, framing), canCount);
      printCosts(`${transfer.name}, ${framing}`, costs);
    }
  }
}

async function startProxies(world: StreamsWorld): Promise<readonly Proxy[]> {
  const gateway = await world.startGateway('public');
  const relay = await world.startHttpRelay();
  const tuned = world.nginx;
  const untuned = await world.startDefaultNginx();
  return [
    { name: 'nginx', ...tuned },
    { name: 'gateway', ...gateway },
    { name: 'bare node:http relay', ...relay },
    { name: 'nginx as it comes', ...untuned },
  ].flatMap(({ name, pid, port }) =>
    pid === undefined || port === undefined ? [] : [{ name, pid, port }],
  );
}

async function measureRounds(
  proxies: readonly Proxy[],
  transfer: Transfer,
  canCount: boolean,
): Promise<readonly Costs[]> {
  const costs = proxies.map(({ name }): Costs => ({ name, cpu: [], user: [], kernel: [] }));
  for (let each = 0; each < WARM_UP; each += 1) {
    for (const { port } of proxies) await transfer(port);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, { pid, port }] of proxies.entries()) {
      const start = cpuOfTree(pid);
      await transfer(port);
      costs[at]?.cpu.push((cpuOfTree(pid) - start) / MEBIBYTES);
      if (!canCount) continue;
      const { user, kernel } = await countInstructions(pid, () => transfer(port));
      costs[at]?.user.push(user / MEBIBYTES / THOUSAND);
      costs[at]?.kernel.push(kernel / MEBIBYTES / THOUSAND);
    }
  }
  return costs;
}

function printCosts(title: string, costs: readonly Costs[]): void {
  const nginx = costs.find(({ name }) => name === 'nginx');
  console.log(`  ${title}`);
  for (const each of costs) {
    const { name, cpu, user, kernel } = each;
    const counted = user.length === 0 ? '' : ` ${whole(user)} + ${whole(kernel).trimStart()}`;
    const ratio = nginx === undefined || nginx === each ? '' : ratios(each, nginx);
    console.log(`    ${name.padEnd(21)} ${whole(cpu)} us${counted.padEnd(14)} ${ratio}`.trimEnd());
  }
}

function ratios(costs: Costs, nginx: Costs): string {
  const rounds = costs.cpu.map((value, round) => value / (nginx.cpu[round] ?? NaN));
  const list = rounds.map((ratio) => ratio.toFixed(2)).join(' ');
  const instructions = instructionsOf(costs) / instructionsOf(nginx);
  const counted = Number.isNaN(instructions) ? '' : `, instructions ${instructions.toFixed(2)} x`;
  const aim = costs.name === 'gateway' ? ', aim at most 1.3' : '';
  return `${median(rounds).toFixed(2)} x nginx${aim}${counted} (rounds: ${list})`;
}

function instructionsOf({ user, kernel }: Costs): number {
  return median(user) + median(kernel);
}

function whole(values: readonly number[]): string {
  return median(values).toFixed(0).padStart(5);
}
