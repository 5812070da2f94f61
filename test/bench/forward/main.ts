/**
 * Requests per core of the authenticated `tools/call` path, against a bare http-proxy that does the
 * same job with the same caches, and against an empty node:http server.
 *
 * All subjects are measured in one run, in interleaved rounds; only the ratios mean something.
 *
 * With the path of another checkout of this repository, which has its dependencies, its gateway is
 * measured as well, and the ratio of the two is printed: `node test/bench/forward/main.ts ../before`.
 */
import { basename, join, resolve } from 'node:path';

import { sendLoad } from './load.ts';
import { startProgram, type BenchProgram } from '../support/bench-program.ts';
import { median } from '../support/percentile.ts';
import { LOAD_CORE, moveToCore, SUBJECT_CORE } from '../support/pinned.ts';
import { cpuOfTree } from '../support/process-cpu.ts';

const ROUNDS = 7;
const REQUESTS = 10_000;
const CONNECTIONS = 32;
const BASELINE = 'http-proxy';
const GATEWAY = 'gateway';

interface Subject extends BenchProgram {
  readonly name: string;
  /** CPU microseconds per request, one value a round. */
  readonly costs: number[];
}

async function start(
  name: string,
  core: number,
  args: readonly string[] = [],
  folder = import.meta.dirname,
): Promise<Subject> {
  const program = await startProgram(join(folder, `${name}.ts`), { core, args });
  return { name, costs: [], ...program };
}

async function measure(subject: Subject, requests: number): Promise<number> {
  const before = cpuOfTree(subject.pid);
  await sendLoad({ ...subject, requests, connections: CONNECTIONS });
  return (cpuOfTree(subject.pid) - before) / requests;
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
for (const each of [upstream, ...subjects]) each[Symbol.dispose]();
