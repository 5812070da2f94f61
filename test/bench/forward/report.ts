import type { Instructions } from '../support/instructions.ts';
import { median } from '../support/percentile.ts';
import type { Subject } from './bench-world.ts';
import type { Latency } from './latency.ts';
import type { RoundCost } from './measured-cost.ts';

const NAME_WIDTH = 32;
const THOUSAND = 1000;

/** All that was measured of one subject. */
export interface Measured {
  readonly subject: Subject;
  /** One entry a round, at the same place for all subjects. */
  readonly rounds: RoundCost[];
  /** Rounds that came after a pause. */
  readonly afterPause: RoundCost[];
  /** At a fixed rate, one entry a round. */
  readonly latencies: Latency[];
  instructions: Instructions | undefined;
}

/** Returns the median of the CPU microseconds of a request. */
export function costOf({ rounds }: Measured): number {
  return median(rounds.map(({ cost }) => cost));
}

/** Returns how many times the cost of `of` a subject costs, round by round. */
export function ratios(measured: Measured, of: Measured): readonly number[] {
  return measured.rounds.map(({ cost }, round) => cost / (of.rounds[round]?.cost ?? NaN));
}

/** Returns how many times the user instructions of `of` a subject executes; undefined if not counted. */
export function instructionRatio(measured: Measured, of: Measured): number | undefined {
  const [each, base] = [measured.instructions?.user, of.instructions?.user];
  return each === undefined || base === undefined ? undefined : each / base;
}

/** Prints a row for each subject. */
export function printCosts(all: readonly Measured[], httpProxy: Measured): void {
  const withInstructions = all.some(({ instructions }) => instructions !== undefined);
  const heading = ['us', 'spread', 'busy', 'req/s', 'gain', ...(withInstructions ? ['instr'] : [])];
  printRow('CPU of a warm request', heading);
  for (const measured of all) {
    const { subject, rounds, instructions } = measured;
    const costs = rounds.map(({ cost }) => cost);
    const cost = median(costs);
    printRow(subject.name, [
      cost.toFixed(1),
      percent((Math.max(...costs) - Math.min(...costs)) / cost),
      percent(median(rounds.map(({ busy }) => busy))),
      (1e6 / cost).toFixed(0),
      median(ratios(httpProxy, measured)).toFixed(2),
      ...(instructions === undefined ? [] : [describeInstructions(instructions)]),
    ]);
  }
  console.log(`
us      CPU microseconds a request of the whole process tree, the median of ${String(all[0]?.rounds.length)} rounds
spread  from the cheapest round to the dearest, in percent of the median
busy    the part of the time in which the subject used its core
req/s   what one core can serve: 1,000,000 / us
gain    how many times cheaper than http-proxy with the same caches, the median of the ratios within rounds`);
  if (!withInstructions) console.log('instructions are left out: there is no perf that may count');
  else console.log('instr   thousand instructions a request in user mode, and in the kernel');
}

/** Prints what the first requests after a pause cost, in what a warm one costs. */
export function printPauses(all: readonly Measured[], seconds: number): void {
  console.log();
  const title = `after ${String(seconds)} s of nothing`;
  printRow(title, ['us', 'x warm', 'rounds']);
  for (const measured of all) {
    const costs = measured.afterPause.map(({ cost }) => cost);
    printRow(measured.subject.name, [
      median(costs).toFixed(1),
      (median(costs) / costOf(measured)).toFixed(2),
      costs.map((cost) => cost.toFixed(1)).join(' '),
    ]);
  }
}

/** Prints latency at a fixed rate. */
export function printLatencies(all: readonly Measured[], perSecond: number): void {
  console.log();
  printRow(`at ${perSecond.toFixed(0)} requests/s`, ['p50 ms', 'p99 ms', 'p99 of rounds']);
  for (const { subject, latencies } of all) {
    const p99 = latencies.map((latency) => latency.p99);
    printRow(subject.name, [
      median(latencies.map(({ p50 }) => p50)).toFixed(2),
      median(p99).toFixed(2),
      p99.map((each) => each.toFixed(2)).join(' '),
    ]);
  }
}

/** Prints a promise beside what was measured: in CPU time, and in instructions where they were counted. */
export function printPromise(promise: string, time: number, instructions?: number): void {
  const counted =
    instructions === undefined ? '' : `; in user instructions ${instructions.toFixed(2)}`;
  console.log(`${promise}: ${time.toFixed(2)}${counted}`);
}

function printRow(name: string, cells: readonly string[]): void {
  console.log([name.padEnd(NAME_WIDTH), ...cells.map((cell) => cell.padStart(8))].join(' '));
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}

function describeInstructions({ user, kernel }: Instructions): string {
  return `${(user / THOUSAND).toFixed(0)} + ${(kernel / THOUSAND).toFixed(0)}`;
}
