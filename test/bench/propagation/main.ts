/**
 * Measures how long a change of a Route takes from the API server to the answers of three proxies,
 * alone and while another Route changes ten times a second, with few Routes and with many; how long
 * a thousand new Routes take to be programmed, and how often their status is written; and memory,
 * delays of event loops, and times to start of processes.
 *
 * `node main.ts [fake] [SIZE...]`: on a kube-apiserver if there is one, unless `fake` is given. All
 * processes share the cores of this machine with the API server.
 */
import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

import { describeTimes, type ChangeTimes } from './changes.ts';
import { Installation, type Growth } from './installation.ts';
import { percentile } from '../support/percentile.ts';
import type { ProcessReport } from './probes.ts';
import { askAll, measureFreshStart, measureFullPush } from './processes.ts';

const SIZES = [1, 100, 3000, 10_000];
/** Routes that are created at once at the very beginning. */
const BURST = 1000;
/** Number of Routes before a later burst. */
const BURST_SIZE = 3000;
const CHANGES = 100;
/** Time after which delayed status writes are done. */
const SETTLING_MS = 8000;
/** Time after which the controller may write status in a burst again. */
const REST_MS = 45_000;
const MEBIBYTE = 1024 * 1024;

async function measureBurst(installation: Installation, title: string): Promise<void> {
  await wait(REST_MS);
  const size = installation.names.length + BURST;
  report(title, describeGrowth(await installation.growTo(size, () => wait(SETTLING_MS))));
}

async function measureSize(installation: Installation, size: number): Promise<ChangeTimes> {
  const title = `${String(size)} routes`;
  // One more, for the Route that changes all the time.
  const growth = await installation.growTo(size + 1, () => wait(SETTLING_MS));
  if (growth.routes > BURST) report(`${title}, grown`, describeGrowth(growth));
  const [churned = '', ...names] = installation.names;
  const changed = spread(names, CHANGES);
  const { changes } = installation;
  const alone = await changes.measure(changed, CHANGES);
  report(`${title}, alone`, describeTimes(alone));
  const underChurn = await changes.measureUnderChurn(churned, changed, CHANGES);
  report(`${title}, another churns`, describeTimes(underChurn));
  const strange = [...alone.strange, ...underChurn.strange];
  report(`${title}, neither old nor new`, `${String(strange.length)} ${strange[0] ?? ''}`);
  return alone;
}

async function measureProcesses(installation: Installation, title: string): Promise<void> {
  await wait(SETTLING_MS);
  const { controller, proxies } = await askAll(installation);
  report(
    `${title}, memory`,
    `controller ${describeMemory(controller)}, proxies ${proxies.map(describeMemory).join(', ')}`,
  );
  const { tookMs, reports } = await measureFullPush(installation);
  report(
    `${title}, full push`,
    `${tookMs.toFixed(0)} ms from the start of a controller, lag: controller ${describeLag(reports.controller)}, proxies ${reports.proxies.map(describeLag).join(', ')}`,
  );
  // By then the snapshot is stored in Redis.
  await wait(SETTLING_MS);
  for (const isKeptInRedis of [true, false]) {
    const fresh = await measureFreshStart(installation, { isKeptInRedis });
    report(
      `${title}, fresh proxy (${isKeptInRedis ? 'Redis' : 'controller'})`,
      `ready after ${fresh.readyMs.toFixed(0)} ms, lag ${describeLag(fresh.report)}, ${describeMemory(fresh.report)}`,
    );
  }
}

function spread(names: readonly string[], count: number): readonly string[] {
  const step = Math.max(1, Math.floor(names.length / count));
  return names.filter((_, index) => index % step === 0);
}

function describeGrowth(growth: Growth): string {
  const { routes, createdMs, programmedMs, statusWrites, settingsWrites } = growth;
  return [
    `${String(routes)} new routes created in ${createdMs.toFixed(0)} ms`,
    `programmed ${programmedMs.toFixed(0)} ms after the last`,
    `${String(statusWrites)} status writes, ${String(settingsWrites)} of settings`,
  ].join(', ');
}

function describeMemory({ residentBytes, heapBytes }: ProcessReport): string {
  const mebibytes = (bytes: number): string => (bytes / MEBIBYTE).toFixed(0);
  return `${mebibytes(residentBytes)} MB (heap ${mebibytes(heapBytes)})`;
}

function describeLag({ lag }: ProcessReport): string {
  return `p99 ${lag.p99.toFixed(0)} max ${lag.max.toFixed(0)} ms`;
}

function report(title: string, text: string): void {
  console.log(`${title.padEnd(34)}  ${text}`);
}

function reportRatios(medians: ReadonlyMap<number, number>): void {
  const [[size, base] = [0, NaN]] = medians;
  for (const [each, median] of medians) {
    const ratio = (median / base).toFixed(2);
    report(`${String(each)} routes, ratio`, `${ratio} x the median at ${String(size)}`);
  }
}

const [kind] = process.argv.slice(2).filter((word) => !/^\d+$/.test(word));
const given = process.argv.slice(2).filter((word) => /^\d+$/.test(word));
const sizes = given.length === 0 ? SIZES : given.map(Number);
await using installation = await Installation.start(kind === 'fake');
const load = loadavg()[0]?.toFixed(1) ?? '';
report('API server', `${installation.cluster.kind}; load of the machine before ${load}`);

if (Math.max(...sizes) >= BURST) {
  await measureBurst(installation, 'none before');
  await measureProcesses(installation, `${String(BURST)} routes`);
  await installation.clear();
}
const medians = new Map<number, number>();
for (const size of sizes) {
  const times = await measureSize(installation, size);
  medians.set(size, percentile(times.fromRequest, 0.5));
  if (size === Math.max(...sizes)) await measureProcesses(installation, `${String(size)} routes`);
  if (size === BURST_SIZE) await measureBurst(installation, `${String(size)} before`);
}
reportRatios(medians);
