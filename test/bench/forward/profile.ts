/**
 * Prints where the microseconds and the allocations of a warm request go, by area of the source.
 *
 * `node test/bench/forward/profile.ts [--workload mcp|jwt|web|public] [--functions COUNT] [CHECKOUT]`. CHECKOUT
 * is another checkout of this repository, with its dependencies: its gateway is profiled instead.
 */
import { parseArgs } from 'node:util';

import { canCountInstructions } from '../support/instructions.ts';
import { endInTime } from '../support/end-in-time.ts';
import { median } from '../support/percentile.ts';
import { LOAD_CORE, moveToCore } from '../support/pinned.ts';
import { profileDuring, PROFILER_FLAGS, type Profiles } from '../support/profile-session.ts';
import { BenchWorld } from './bench-world.ts';
import { openLoad } from './load.ts';
import { instructionsPerRequest, measureWarm, warm } from './measured-cost.ts';
import { combineCheckouts } from './other-checkout.ts';
import { sumByArea, sumByFunction } from './profile-areas.ts';
import { WORKLOADS } from './workload.ts';

const MAX_MINUTES = 5;
const ROUNDS = 5;
const ROUND_MS = 1500;
const REQUESTS = 30_000;
const CONNECTIONS = 32;
const THOUSAND = 1000;
const BYTES_PER_KILOBYTE = 1024;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    workload: { type: 'string', default: 'mcp' },
    functions: { type: 'string', default: '0' },
  },
});
const [checkout] = positionals;
const workload = WORKLOADS.find((each) => each === values.workload);
if (workload === undefined) throw new Error(`--workload is one of ${WORKLOADS.join(', ')}`);

moveToCore(LOAD_CORE);
await using world = await BenchWorld.open();
endInTime(world, MAX_MINUTES);
const gateway = await world.startGateway({
  name: 'gateway',
  workload,
  routes: 1,
  nodeFlags: PROFILER_FLAGS,
  ...(checkout !== undefined && {
    folder: await combineCheckouts(checkout, `${world.directory.path}/other`),
  }),
});

async function profile(kind: keyof Profiles): ReturnType<typeof profileDuring> {
  using load = await openLoad({ ...gateway, connections: CONNECTIONS });
  await warm(load);
  return await profileDuring(gateway.process, kind, () => load.send(REQUESTS));
}

function total(sums: ReadonlyMap<string, number>): number {
  return [...sums.values()].reduce((sum, value) => sum + value, 0);
}

const costs: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  costs.push((await measureWarm(gateway, ROUND_MS)).cost);
}
const cost = median(costs);
const cpu = await profile('cpu');
const times = sumByArea(cpu);
const bytes = sumByArea(await profile('heap'));

console.log('| Area | µs | % | KB allocated |\n| --- | ---: | ---: | ---: |');
for (const [area, time] of [...times].sort(([, a], [, b]) => b - a)) {
  const part = time / total(times);
  const kilobytes = (bytes.get(area) ?? 0) / REQUESTS / BYTES_PER_KILOBYTE;
  const cells = [(part * cost).toFixed(1), (part * 100).toFixed(1), kilobytes.toFixed(2)];
  console.log(`| ${[area, ...cells].join(' | ')} |`);
}
const kilobytes = (total(bytes) / REQUESTS / BYTES_PER_KILOBYTE).toFixed(2);
console.log(`| **all** | ${cost.toFixed(1)} | 100 | ${kilobytes} |`);
if (canCountInstructions()) {
  const { user, kernel } = await instructionsPerRequest(gateway);
  const counts = [user, kernel].map((count) => (count / THOUSAND).toFixed(0));
  console.log(`\nthousand instructions in user mode + in the kernel: ${counts.join(' + ')}`);
}
const functions = [...sumByFunction(cpu)].sort(([, a], [, b]) => b - a);
for (const [name, time] of functions.slice(0, Number(values.functions))) {
  console.log(`${((100 * time) / total(times)).toFixed(1).padStart(5)} %  ${name}`);
}
