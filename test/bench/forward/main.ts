/**
 * Requests per core of the authenticated `tools/call` path, against a bare http-proxy that does the
 * same job with the same caches, and against an empty node:http server.
 *
 * All subjects are measured in one run, in interleaved rounds; only the ratios mean something.
 *
 * With the path of another checkout of this repository, which has its dependencies, its gateway is
 * measured as well, and the ratio of the two is printed: `node test/bench/forward/main.ts ../before`.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { basename, join, resolve } from 'node:path';

import { sendLoad } from './load.ts';
import { canPin, moveToCore, startOnCore } from './pinned.ts';
import type { Ready } from './subject-process.ts';

const ROUNDS = 7;
const REQUESTS = 10_000;
const CONNECTIONS = 32;
const BASELINE = 'http-proxy';
const GATEWAY = 'gateway';

/** The measured process has one core to itself; the load and the upstream share another. */
const SUBJECT_CORE = 0;
const LOAD_CORE = 1;

interface Subject extends Ready {
  readonly name: string;
  readonly process: ChildProcess;
  /** CPU microseconds per request, one value a round. */
  readonly costs: number[];
}

async function start(
  name: string,
  core: number,
  args: readonly string[] = [],
  folder = import.meta.dirname,
): Promise<Subject> {
  const child = startOnCore(core, join(folder, `${name}.ts`), args);
  // The child's first message has this form.
  const [ready] = (await once(child, 'message')) as [Ready];
  return { name, process: child, costs: [], ...ready };
}

async function cpuOf({ process: child }: Subject): Promise<number> {
  const answer = once(child, 'message');
  child.send('usage');
  // Later messages are CPU times.
  const [microseconds] = (await answer) as [number];
  return microseconds;
}

async function measure(subject: Subject, requests: number): Promise<number> {
  const before = await cpuOf(subject);
  await sendLoad({ ...subject, requests, connections: CONNECTIONS });
  return ((await cpuOf(subject)) - before) / requests;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function report(subjects: readonly Subject[]): void {
  const baseline = median(subjects.find(({ name }) => name === BASELINE)?.costs ?? []);
  for (const { name, costs } of subjects) {
    const cost = median(costs);
    const perCore = Math.round(1e6 / cost);
    const ratio = (baseline / cost).toFixed(2);
    console.log(
      `${name.padEnd(14)} ${cost.toFixed(0).padStart(6)} us/request ${String(perCore).padStart(7)} requests/s/core   ${ratio} x ${BASELINE}`,
    );
  }
}

/** The gateway of another checkout, under the name of its folder. */
async function startOther(checkout: string, target: string): Promise<Subject> {
  const folder = resolve(checkout, 'test/bench/forward');
  const subject = await start(GATEWAY, SUBJECT_CORE, [target], folder);
  return { ...subject, name: basename(resolve(checkout)) };
}

/** Ratios of the CPU time of this gateway to that of another one, round by round. */
function compare(gateway: Subject, other: Subject): void {
  const ratios = gateway.costs.map((cost, round) => cost / (other.costs[round] ?? NaN));
  const rounds = ratios.map((ratio) => ratio.toFixed(3)).join(' ');
  console.log(`${median(ratios).toFixed(3)} x the cost of ${other.name} (rounds: ${rounds})`);
}

moveToCore(LOAD_CORE);
if (!canPin) console.log('processes cannot be pinned to cores: ratios are less certain');
const upstream = await start('upstream', LOAD_CORE);
const target = `http://127.0.0.1:${String(upstream.port)}`;
const [, , otherCheckout] = process.argv;
const gateway = await start(GATEWAY, SUBJECT_CORE, [target]);
const other = otherCheckout === undefined ? undefined : await startOther(otherCheckout, target);
const subjects = [
  await start(BASELINE, SUBJECT_CORE, [target]),
  gateway,
  ...(other === undefined ? [] : [other]),
  await start('empty-server', SUBJECT_CORE),
];
for (const subject of subjects) await measure(subject, REQUESTS);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const subject of subjects) subject.costs.push(await measure(subject, REQUESTS));
}
report(subjects);
if (other !== undefined) compare(gateway, other);
for (const { process: child } of [upstream, ...subjects]) child.kill();
