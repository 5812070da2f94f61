/**
 * The cost of a request through the gateway, beside other servers that do the same work or less of it, and
 * what is promised of it. README.md says what is measured, and how.
 *
 * `node test/bench/forward/main.ts [--short] [--only telemetry|tls] [CHECKOUT]`. CHECKOUT is another checkout of
 * this repository, with its dependencies: its gateway is measured as well.
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
import { startMainGateway, startSubjects, startTlsGateway, type Subjects } from './subjects.ts';
import { startTelemetrySubjects, type TelemetrySubjects } from './telemetry.ts';

const FULL = {
  rounds: 7,
  counts: 3,
  roundMs: 1200,
  pauses: 3,
  pauseSeconds: 30,
  // A p99 is made by few stalls, so it varies more than anything else.
  paced: 7,
  pacedMs: 6000,
};
const SHORT = {
  rounds: 3,
  counts: 1,
  roundMs: 700,
  pauses: 1,
  pauseSeconds: 5,
  paced: 1,
  pacedMs: 4000,
};
const MAX_MINUTES = 20;
const REQUESTS_AFTER_PAUSE = 6_000;
const MILLISECONDS = 1000;
const MICROSECONDS_PER_MILLISECOND = 1000;
/** Latency is measured at this part of what the gateway can serve. */
const PART_OF_CAPACITY = 0.6;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const plan = values.short ? SHORT : FULL;
const { only } = values;
if (only !== undefined && only !== 'telemetry' && only !== 'tls') {
  throw new Error(`--only takes telemetry or tls, and not ${only}`);
}

moveToCore(LOAD_CORE);
await using world = await BenchWorld.open();
endInTime(world, MAX_MINUTES);
const gateway = await startMainGateway(world);
const subjects =
  only === undefined ? await startSubjects(world, gateway, positionals[0]) : undefined;
const telemetry = only === 'tls' ? undefined : await startTelemetrySubjects(world, gateway);
const tls = only === 'telemetry' ? undefined : await startTlsGateway(world);
const measured = new Map<Subject, Measured>();
for (const subject of Object.values<Subject | undefined>({
  gateway,
  ...subjects,
  ...telemetry,
  tls,
})) {
  if (subject === undefined) continue;
  measured.set(subject, { subject, rounds: [], afterPause: [], latencies: [], instructions: [] });
}
const all = [...measured.values()];

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
  for (let count = 0; count < plan.counts; count += 1) {
    console.error(`count ${String(count + 1)} of ${String(plan.counts)}`);
    for (const { subject, instructions } of all) {
      instructions.push(await instructionsPerRequest(subject));
    }
    world.emptyLogs();
  }
}

async function measurePauses(main: readonly Measured[]): Promise<void> {
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

function printPromises({ httpProxy, haproxy, nginx, ...others }: Subjects): void {
  const ours = measuredOf(gateway);
  const baseline = measuredOf(httpProxy);
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
  const jwt = measuredOf(others.jwt);
  printPromise(
    'Times the CPU of an external token with a JWT, at most 1.05',
    median(ratios(jwt, ours)),
    instructionRatio(jwt, ours),
  );
  const pairs = [
    ['MCP', others.gatewayMany, gateway],
    ['web', others.webMany, others.web],
    ['public', others.openMany, others.open],
  ] as const;
  for (const [name, ...pair] of pairs) {
    const [many, one] = [measuredOf(pair[0]), measuredOf(pair[1])];
    const promise = `P4: times the CPU of one route at 10,000 routes, ${name}, at most 1.1`;
    printPromise(promise, median(ratios(many, one)), instructionRatio(many, one));
  }
}

function printTelemetryPromises({
  off,
  sampledNone,
  sampledAll,
  scraped,
}: TelemetrySubjects): void {
  const rows = [
    ['P8: times the CPU without tracing, sampled 0, at most 1.05', sampledNone],
    ['P8: times the CPU without tracing, sampled 1, at most 1.35', sampledAll],
    ['Times the CPU without scrapes, metrics scraped every second', scraped],
  ] as const;
  for (const [promise, subject] of rows) printTimes(promise, subject, off);
}

/** Prints how many times the CPU of another subject one takes. */
function printTimes(promise: string, subject: Subject, than: Subject): void {
  const [each, other] = [measuredOf(subject), measuredOf(than)];
  printPromise(
    promise,
    median(ratios(each, other)),
    instructionRatio(each, other),
    instructionRatio(each, other, 'cycles'),
  );
}

/** Compares the gateway with that of another checkout. */
function printComparison(other: Subject): void {
  const rounds = ratios(measuredOf(gateway), measuredOf(other));
  const text = rounds.map((ratio) => ratio.toFixed(3)).join(' ');
  console.log(`\n${median(rounds).toFixed(3)} x the CPU of ${other.name} (rounds: ${text})`);
  const counted = instructionRatio(measuredOf(gateway), measuredOf(other));
  if (counted !== undefined) console.log(`${counted.toFixed(3)} x its user instructions`);
}

await measureRounds();
await measureInstructions();
printCosts(all, measuredOf(subjects?.httpProxy ?? gateway));
if (subjects !== undefined) {
  const { emptyServer, nginx, haproxy, httpProxy, other } = subjects;
  const main = present(emptyServer, nginx, haproxy, httpProxy, gateway, other);
  await measurePauses(main);
  printPauses(main, plan.pauseSeconds);
  const paced = present(nginx, httpProxy, gateway, other);
  const rate = await measureLatencies(paced);
  printLatencies(paced, rate * MILLISECONDS);
}
console.log('\nPromises');
if (subjects !== undefined) printPromises(subjects);
if (telemetry !== undefined) printTelemetryPromises(telemetry);
if (tls !== undefined) {
  printTimes('P8: times the CPU without TLS, TLS keep-alive, at most 1.35', tls, gateway);
}
if (subjects?.other !== undefined) printComparison(subjects.other);
