/**
 * The cost of a request through the gateway, beside other servers that do the same work or less of it, and
 * what is promised of it. README.md says what is measured, and how.
 *
 * `node test/bench/forward/main.ts [--short] [CHECKOUT]`. CHECKOUT is another checkout of this repository,
 * with its dependencies: its gateway is measured as well.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { canCountInstructions } from '../support/instructions.ts';
import { median } from '../support/percentile.ts';
import { LOAD_CORE, moveToCore } from '../support/pinned.ts';
import { BenchWorld, type Subject } from './bench-world.ts';
import { endInTime } from '../support/end-in-time.ts';
import { measureLatency } from './latency.ts';
import { instructionsPerRequest, measureCold, measureWarm } from './measured-cost.ts';
import {
  costOf,
  instructionRatio,
  printCosts,
  printLatencies,
  printPauses,
  printPromise,
  ratios,
  type Measured,
} from './report.ts';
import { startSubjects } from './subjects.ts';

const FULL = { rounds: 7, roundMs: 1200, pauses: 3, pauseSeconds: 30, paced: 3, pacedMs: 6000 };
const SHORT = { rounds: 3, roundMs: 700, pauses: 1, pauseSeconds: 5, paced: 1, pacedMs: 4000 };
const MAX_MINUTES = 20;
const REQUESTS_AFTER_PAUSE = 6_000;
const MILLISECONDS = 1000;
const MICROSECONDS_PER_MILLISECOND = 1000;
/** Latency is measured at this part of what the gateway can serve. */
const PART_OF_CAPACITY = 0.6;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false } },
});
const plan = values.short ? SHORT : FULL;

moveToCore(LOAD_CORE);
await using world = await BenchWorld.open();
endInTime(world, MAX_MINUTES);
const subjects = await startSubjects(world, positionals[0]);
const measured = new Map<Subject, Measured>();
for (const subject of Object.values<Subject | undefined>({ ...subjects })) {
  if (subject === undefined) continue;
  const lists = { rounds: [], afterPause: [], latencies: [] };
  measured.set(subject, { subject, ...lists, instructions: undefined });
}
const all = [...measured.values()];
const { emptyServer, nginx, haproxy, httpProxy, gateway, other } = subjects;
const main = present(emptyServer, nginx, haproxy, httpProxy, gateway, other);

/** Those that were measured. */
function present(...wanted: readonly (Subject | undefined)[]): readonly Measured[] {
  return wanted.flatMap((subject) => (subject === undefined ? [] : [measuredOf(subject)]));
}

function measuredOf(subject: Subject): Measured {
  const found = measured.get(subject);
  if (found === undefined) throw new Error(`${subject.name} was not started`);
  return found;
}

/** Begins with a round that does not count. */
async function measureRounds(): Promise<void> {
  for (const { subject } of all) await measureWarm(subject, plan.roundMs);
  for (let round = 0; round < plan.rounds; round += 1) {
    console.error(`round ${String(round + 1)} of ${String(plan.rounds)}`);
    for (const { subject, rounds } of all) rounds.push(await measureWarm(subject, plan.roundMs));
    world.emptyLogs();
  }
}

async function measureInstructions(): Promise<void> {
  if (!canCountInstructions()) return;
  for (const each of all) each.instructions = await instructionsPerRequest(each.subject);
}

async function measurePauses(): Promise<void> {
  for (let pause = 0; pause < plan.pauses; pause += 1) {
    console.error(`pause ${String(pause + 1)} of ${String(plan.pauses)}`);
    await sleep(plan.pauseSeconds * MILLISECONDS);
    for (const { subject, afterPause } of main) {
      afterPause.push(await measureCold(subject, REQUESTS_AFTER_PAUSE));
    }
    world.emptyLogs();
  }
}

/** Returns the rate, per millisecond. */
async function measureLatencies(paced: readonly Measured[]): Promise<number> {
  const rate = (PART_OF_CAPACITY * MICROSECONDS_PER_MILLISECOND) / costOf(measuredOf(gateway));
  for (let round = 0; round < plan.paced; round += 1) {
    console.error(`latency ${String(round + 1)} of ${String(plan.paced)}`);
    for (const { subject, latencies } of paced) {
      latencies.push(await measureLatency(subject, rate, plan.pacedMs));
    }
    world.emptyLogs();
  }
  return rate;
}

function printPromises(): void {
  const ours = measuredOf(gateway);
  const baseline = measuredOf(httpProxy);
  console.log('\nPromises');
  printPromise(
    'P1: times cheaper than http-proxy with the same caches, at least 2.7, aim 3.2',
    median(ratios(baseline, ours)),
    instructionRatio(baseline, ours),
  );
  if (haproxy !== undefined) {
    const part = median(ratios(ours, measuredOf(haproxy)));
    printPromise('P1: part of the CPU of haproxy with ES256, at most 0.67', part);
  }
  if (nginx !== undefined) {
    const p99 = measuredOf(nginx).latencies.map((latency) => latency.p99);
    const times = ours.latencies.map((latency, round) => latency.p99 / (p99[round] ?? NaN));
    printPromise('P1: times the p99 of nginx at 60 % of capacity, at most 4', median(times));
  }
  const jwt = measuredOf(subjects.jwt);
  printPromise(
    'Times the CPU of an external token with a JWT, at most 1.05',
    median(ratios(jwt, ours)),
    instructionRatio(jwt, ours),
  );
  const pairs = [
    ['MCP', subjects.gatewayMany, gateway],
    ['web', subjects.webMany, subjects.web],
    ['public', subjects.openMany, subjects.open],
  ] as const;
  for (const [name, ...pair] of pairs) {
    const [many, one] = [measuredOf(pair[0]), measuredOf(pair[1])];
    const promise = `P4: times the CPU of one route at 10,000 routes, ${name}, at most 1.1`;
    printPromise(promise, median(ratios(many, one)), instructionRatio(many, one));
  }
}

await measureRounds();
await measureInstructions();
printCosts(all, measuredOf(httpProxy));
await measurePauses();
printPauses(main, plan.pauseSeconds);
const paced = present(nginx, httpProxy, gateway, other);
const rate = await measureLatencies(paced);
printLatencies(paced, rate * MILLISECONDS);
printPromises();
if (other !== undefined) {
  const rounds = ratios(measuredOf(gateway), measuredOf(other));
  const text = rounds.map((ratio) => ratio.toFixed(3)).join(' ');
  console.log(`\n${median(rounds).toFixed(3)} x the CPU of ${other.name} (rounds: ${text})`);
  const counted = instructionRatio(measuredOf(gateway), measuredOf(other));
  if (counted !== undefined) console.log(`${counted.toFixed(3)} x its user instructions`);
}
