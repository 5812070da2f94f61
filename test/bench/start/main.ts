/**
 * Measures what starts cost: CPU and time of each command until it is done or ready, with
 * an empty compile cache and with the one that this start has left, and in the container image, which brings
 * its own; and what the first requests cost a
 * gateway, compared with the same requests after 10,000 others.
 *
 * The controller has a kubeconfig, and so loads the client of Kubernetes. In a pod it starts with less
 * (D-140).
 *
 * All starts are measured in interleaved rounds. Ratios to a bare `node` mean something on other machines
 * too. CPU times of commands that run on are read in `/proc`, so this needs Linux.
 */
import { CHECKOUT_PROGRAM, type CommandProgram } from '../../support/cli.ts';
import { TemporaryDirectory } from '../../support/temporary-directory.ts';
import { endInTime } from '../support/end-in-time.ts';
import { median } from '../support/percentile.ts';
import { clusterCommands } from './cluster-commands.ts';
import { CompileCache } from './compile-cache.ts';
import type { Cost } from './cost.ts';
import { buildImageProgram } from './image-program.ts';
import { measureFirstRequests, WARMING } from './first-requests.ts';
import { standaloneCommands } from './standalone-commands.ts';
import type { Subject } from './subject.ts';

const MAX_MINUTES = 15;
const ROUNDS = 5;
const REQUEST_ROUNDS = 3;
const ROUTES = 1000;
const PROMISED_CPU_MS = 1000;

interface Starts {
  readonly subject: Subject;
  readonly cold: Cost[];
  readonly warm: Cost[];
  /** Of the program of the image. */
  readonly image: Cost[];
}

async function measureStarts(
  subjects: readonly Subject[],
  cache: CompileCache,
  imageProgram: CommandProgram,
): Promise<readonly Starts[]> {
  const measured = subjects.map((subject): Starts => ({ subject, cold: [], warm: [], image: [] }));
  for (let round = 0; round < ROUNDS; round += 1) {
    console.error(`round ${String(round + 1)} of ${String(ROUNDS)}`);
    for (const { subject, cold, warm, image } of measured) {
      await cache.clear();
      cold.push(await subject.start(CHECKOUT_PROGRAM));
      warm.push(await subject.start(CHECKOUT_PROGRAM));
      image.push(await subject.start(imageProgram));
    }
  }
  return measured;
}

function reportStarts(measured: readonly Starts[]): void {
  const bare = cpu(measured[0]?.warm ?? []);
  const titles = ['CPU, cold', 'warm', 'image', 'x node', 'time, cold', 'warm', 'image'];
  row('start', titles, 'promised, at most');
  for (const { subject, cold, warm, image } of measured) {
    const { name, promisedWallMs } = subject;
    const time = promisedWallMs === undefined ? '' : `, time ${ms(promisedWallMs)}`;
    const ratio = (cpu(warm) / bare).toFixed(1);
    const cpus = [cold, warm, image].map((costs) => ms(cpu(costs)));
    const walls = [cold, warm, image].map((costs) => ms(wall(costs)));
    row(name, [...cpus, ratio, ...walls], `CPU ${ms(PROMISED_CPU_MS)}${time}`);
  }
  console.log(`
start    until the command is done, or ready to serve; medians of ${String(ROUNDS)} rounds
CPU      of all threads and children, in user mode and in the kernel
cold     with an empty compile cache
warm     with the compile cache that the cold start has left
image    the program of the container image, with the compiled code in it
x node   how many times the warm CPU of the first row`);
}

/** The cache of the warm rounds is that of a gateway which has served such requests. */
async function reportFirstRequests(cache: CompileCache): Promise<void> {
  await cache.clear();
  const cold = await measureFirstRequests(cache);
  const warm = [];
  for (let round = 0; round < REQUEST_ROUNDS; round += 1) {
    warm.push(await measureFirstRequests(cache));
  }
  console.log();
  row('request', ['CPU, cold', 'first', 'later', 'time, cold', 'first', 'later']);
  for (const [index, { work, first }] of cold.entries()) {
    const rounds = warm.flatMap((results) => results[index] ?? []);
    const firsts = rounds.map((each) => each.first);
    const laters = rounds.map((each) => each.later);
    const cpus = [first.cpuMs, cpu(firsts), cpu(laters)];
    const times = [first.wallMs, wall(firsts), wall(laters)];
    row(work, [...cpus, ...times].map(tenths));
  }
  console.log(`
cold     the first one of a process that started with an empty compile cache
first    the first one of a process that started with a full one
later    the mean of many, after ${String(WARMING)} requests`);
}

function row(name: string, cells: readonly string[], end = ''): void {
  const padded = cells.map((cell) => cell.padStart(11)).join('');
  console.log(`${name.padEnd(28)}${padded}   ${end}`.trimEnd());
}

function cpu(costs: readonly Cost[]): number {
  return median(costs.map(({ cpuMs }) => cpuMs));
}

function wall(costs: readonly Cost[]): number {
  return median(costs.map(({ wallMs }) => wallMs));
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}

function tenths(value: number): string {
  return `${value.toFixed(1)} ms`;
}

await using started = new AsyncDisposableStack();
endInTime(started, MAX_MINUTES);
const cache = started.use(await CompileCache.create());
const directory = started.use(await TemporaryDirectory.create());
const cluster = started.use(await clusterCommands(cache, ROUTES));
const standalone = await standaloneCommands(cache, { directory, routes: ROUTES });
const subjects = [...standalone, ...cluster.subjects];
const image = await buildImageProgram(directory.path);
reportStarts(await measureStarts(subjects, cache, image));
await reportFirstRequests(cache);
