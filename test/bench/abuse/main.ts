/**
 * Measures the CPU of every shape of anonymous request that fills what a stranger may send, as a multiple of
 * an ordinary request. Each is on a connection of its own.
 *
 * All are measured in one run, in interleaved rounds; only the ratios mean something.
 */
import { join } from 'node:path';

import {
  ABUSIVE_REQUESTS,
  ORDINARY_REQUEST,
  type AbusiveRequest,
} from '../../support/abuse/abusive-requests.ts';
import { exchange } from '../../support/abuse/exchange.ts';
import { startProgram } from '../support/bench-program.ts';
import { median } from '../support/percentile.ts';
import { LOAD_CORE, moveToCore, SUBJECT_CORE } from '../support/pinned.ts';
import { cpuOfTree } from '../support/process-cpu.ts';

const ROUNDS = 5;
const REQUESTS = 5;
/** An ordinary request is measured after as many shapes, so that both see the same machine. */
const SHAPES_AT_ONCE = 25;
const ORDINARY_REQUESTS = 50;
const WARM_UP = 500;
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

/** Returns the CPU microseconds of one request. */
async function costOf(bytes: string, requests: number): Promise<number> {
  const before = cpuOfTree(pid);
  for (let sent = 0; sent < requests; sent += 1) await exchange(port, bytes);
  return (cpuOfTree(pid) - before) / requests;
}

const ordinary = ORDINARY_REQUEST.bytes(port);
const ratios = new Map<AbusiveRequest, number[]>(ABUSIVE_REQUESTS.map((each) => [each, []]));
const ordinaryCosts: number[] = [];

async function measure(requests: readonly AbusiveRequest[]): Promise<void> {
  const base = await costOf(ordinary, ORDINARY_REQUESTS);
  ordinaryCosts.push(base);
  for (const request of requests) {
    ratios.get(request)?.push((await costOf(request.bytes(port), REQUESTS)) / base);
  }
}

await costOf(ordinary, WARM_UP);
for (let round = 0; round < ROUNDS; round += 1) {
  for (let first = 0; first < ABUSIVE_REQUESTS.length; first += SHAPES_AT_ONCE) {
    await measure(ABUSIVE_REQUESTS.slice(first, first + SHAPES_AT_ONCE));
  }
}

const rows = [...ratios].map(([{ name }, values]) => ({ name, ratio: median(values) }));
const shown = rows.toSorted((a, b) => b.ratio - a.ratio).slice(0, SHOWN);
console.log(`an ordinary request: ${median(ordinaryCosts).toFixed(0)} microseconds of CPU`);
console.log(
  `the ${String(SHOWN)} costliest of ${String(rows.length)} shapes, in ordinary requests:`,
);
for (const { name, ratio } of shown) console.log(`${ratio.toFixed(2).padStart(8)}  ${name}`);
console.log(`D-075 allows at most ${String(ALLOWED)}`);
