/**
 * Measures the CPU of every shape of anonymous request that fills what a stranger may send, as a multiple of
 * an ordinary request: a GET with seven header fields of a browser, which is forwarded. Each is on a connection
 * of its own, and is sent until V8 has optimized what it needs, as an attacker would.
 *
 * All are measured in one run, in interleaved rounds; only the ratios mean something. Where `perf` may count
 * instructions, it does so for those that are shown: they hardly depend on what else runs on the machine. A
 * short loop executes several times as many in a microsecond as ordinary code does.
 */
import { join } from 'node:path';

import {
  ABUSIVE_REQUESTS,
  ORDINARY_REQUEST,
  type AbusiveRequest,
} from '../../support/abuse/abusive-requests.ts';
import { exchange } from '../../support/abuse/exchange.ts';
import { startProgram } from '../support/bench-program.ts';
import { canCountInstructions, countInstructions } from '../support/instructions.ts';
import { median } from '../support/percentile.ts';
import { LOAD_CORE, moveToCore, SUBJECT_CORE } from '../support/pinned.ts';
import { cpuOfTree } from '../support/process-cpu.ts';

const ROUNDS = 5;
const REQUESTS = 10;
/** Requests of a shape before it is measured. */
const WARM_UP_OF_SHAPE = 100;
/** An ordinary request is measured after as many shapes, so that both see the same machine. */
const SHAPES_AT_ONCE = 25;
const ORDINARY_REQUESTS = 200;
const WARM_UP = 1_000;
/** Ordinary requests are warm again after so many: V8 gives up what other shapes contradict. */
const WARM_UP_AGAIN = 200;
const COUNTED_REQUESTS = 100;
const THOUSAND = 1000;
const SHOWN = 20;
/** No anonymous request may cost more CPU than so many ordinary ones (D-075). */
const ALLOWED = 10;

const FOLDER = import.meta.dirname;

moveToCore(LOAD_CORE);
using upstream = await startProgram(join(FOLDER, '../forward/empty-server.ts'), {
  core: LOAD_CORE,
});
using gateway = await startProgram(join(FOLDER, 'gateway.ts'), {
  core: SUBJECT_CORE,
  args: [`http://127.0.0.1:${String(upstream.port)}`],
});
const { pid, port } = gateway;

async function send(bytes: string, requests: number): Promise<void> {
  for (let sent = 0; sent < requests; sent += 1) await exchange(port, bytes);
}

/** Returns the CPU microseconds of one request. */
async function costOf(bytes: string, requests: number): Promise<number> {
  const before = cpuOfTree(pid);
  await send(bytes, requests);
  return (cpuOfTree(pid) - before) / requests;
}

/** Returns the user instructions of one request. */
async function instructionsOf(bytes: string): Promise<number> {
  await send(bytes, WARM_UP_OF_SHAPE);
  const { user } = await countInstructions(pid, () => send(bytes, COUNTED_REQUESTS));
  return user / COUNTED_REQUESTS;
}

const ordinary = ORDINARY_REQUEST.bytes(port);
const ratios = new Map<AbusiveRequest, number[]>(ABUSIVE_REQUESTS.map((each) => [each, []]));
const ordinaryCosts: number[] = [];

async function measure(requests: readonly AbusiveRequest[]): Promise<void> {
  await send(ordinary, WARM_UP_AGAIN);
  const base = await costOf(ordinary, ORDINARY_REQUESTS);
  ordinaryCosts.push(base);
  for (const request of requests) {
    ratios.get(request)?.push((await costOf(request.bytes(port), REQUESTS)) / base);
  }
}

await send(ordinary, WARM_UP);
for (const request of ABUSIVE_REQUESTS) await send(request.bytes(port), WARM_UP_OF_SHAPE);
for (let round = 0; round < ROUNDS; round += 1) {
  for (let first = 0; first < ABUSIVE_REQUESTS.length; first += SHAPES_AT_ONCE) {
    await measure(ABUSIVE_REQUESTS.slice(first, first + SHAPES_AT_ONCE));
  }
}

const rows = [...ratios].map(([request, values]) => ({ request, ratio: median(values) }));
const shown = rows.toSorted((a, b) => b.ratio - a.ratio).slice(0, SHOWN);
const counts = canCountInstructions();
await send(ordinary, WARM_UP);
const ordinaryInstructions = counts ? await instructionsOf(ordinary) : NaN;
console.log(`an ordinary request: ${median(ordinaryCosts).toFixed(0)} microseconds of CPU`);
if (counts)
  console.log(`${(ordinaryInstructions / THOUSAND).toFixed(0)} thousand user instructions`);
console.log(
  `the ${String(SHOWN)} costliest of ${String(rows.length)} shapes, in ordinary requests:`,
);
console.log(`     CPU${counts ? '   instr' : ''}`);
for (const { request, ratio } of shown) {
  const columns = [ratio];
  if (counts) columns.push((await instructionsOf(request.bytes(port))) / ordinaryInstructions);
  const cells = columns.map((each) => each.toFixed(2).padStart(8)).join('');
  console.log(`${cells}  ${request.name}`);
}
console.log(`D-075 allows at most ${String(ALLOWED)} times the CPU`);
