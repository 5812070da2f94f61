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
  /** One entry a count, at the same place for all subjects; empty where they cannot be counted. */
  readonly instructions: Instructions[];
}

/** Returns the median of the CPU microseconds of a request. */
export function costOf({ rounds }: Measured): number {
  return median(rounds.map(({ cost }) => cost));
}

/** Returns how many times the cost of `of` a subject costs, round by round. */
export function ratios(measured: Measured, of: Measured): readonly number[] {
  return measured.rounds.map(({ cost }, round) => cost / (of.rounds[round]?.cost ?? NaN));
}

/**
 * Returns how many times the user instructions, or the cycles, of `of` a subject takes: the median of the
 * ratios within counts; undefined if not counted.
 */
export function instructionRatio(
  measured: Measured,
  of: Measured,
  counter: keyof Instructions = 'user',
): number | undefined {
  const counts = measured.instructions.map((each, index) => {
    return each[counter] / (of.instructions[index]?.[counter] ?? NaN);
  });
  return counts.length === 0 ? undefined : median(counts);
}

/** Prints a row for each subject, and how many times cheaper than the baseline it is. */
export function printCosts(all: readonly Measured[], baseline: Measured): void {
  const withInstructions = all.some(({ instructions }) => instructions.length > 0);
  const counters = withInstructions ? ['instr', 'cycles'] : [];
  const heading = ['us', 'spread', 'busy', 'req/s', 'gain', ...counters];
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
      median(ratios(baseline, measured)).toFixed(2),
      ...(instructions.length === 0 ? [] : describeInstructions(instructions)),
    ]);
  }
  console.log(`
us      CPU microseconds a request of the whole process tree, the median of ${String(all[0]?.rounds.length)} rounds
spread  from the cheapest round to the dearest, in percent of the median
busy    the part of the time in which the subject used its core
req/s   what one core can serve: 1,000,000 / us
gain    how many times cheaper than "${baseline.subject.name}", the median of the ratios within rounds`);
  if (!withInstructions) console.log('instructions are left out: there is no perf that may count');
  else {
    console.log('instr   thousand instructions a request in user mode, and in the kernel');
    console.log('cycles  thousand cycles a request in both');
  }
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

/** Prints a promise beside what was measured: in CPU time, and in what was counted besides. */
export function printPromise(
  promise: string,
  time: number,
  instructions?: number,
  cycles?: number,
): void {
  const counted = [
    ...(instructions === undefined ? [] : [`; in user instructions ${instructions.toFixed(2)}`]),
    ...(cycles === undefined ? [] : [`; in cycles ${cycles.toFixed(2)}`]),
  ];
  console.log(`${promise}: ${time.toFixed(2)}${counted.join('')}`);
}

function printRow(name: string, cells: readonly string[]): void {
  console.log([name.padEnd(NAME_WIDTH), ...cells.map((cell) => cell.padStart(8))].join(' '));
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}

function describeInstructions(counts: readonly Instructions[]): readonly string[] {
  const thousands = (counter: keyof Instructions): string =>
    (median(counts.map((count) => count[counter])) / THOUSAND).toFixed(0);
  return [`${thousands('user')} + ${thousands('kernel')}`, thousands('cycles')];
}
