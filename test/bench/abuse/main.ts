/**
 * Measures the CPU of every shape of anonymous request that fills what a stranger may send, as a multiple of
 * an ordinary request. Each is on a connection of its own.
 *
 * All are measured in one run, in interleaved rounds; only the ratios mean something.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import {
  ABUSIVE_REQUESTS,
  ORDINARY_REQUEST,
  type AbusiveRequest,
} from '../../support/abuse/abusive-requests.ts';
import { exchange } from '../../support/abuse/exchange.ts';
import { moveToCore, startOnCore } from '../forward/pinned.ts';
import type { Ready } from '../forward/subject-process.ts';

const ROUNDS = 5;
const REQUESTS = 5;
/** An ordinary request is measured after as many shapes, so that both see the same machine. */
const SHAPES_AT_ONCE = 25;
const ORDINARY_REQUESTS = 50;
const WARM_UP = 500;
const SHOWN = 20;
/** No anonymous request may cost more CPU than so many ordinary ones (D-075). */
const ALLOWED = 10;

const SUBJECT_CORE = 0;
const LOAD_CORE = 1;

async function start(program: string, args: readonly string[]): Promise<[ChildProcess, Ready]> {
  const core = program === 'gateway.ts' ? SUBJECT_CORE : LOAD_CORE;
  const folder = program === 'gateway.ts' ? '.' : '../forward';
  const child = startOnCore(core, join(import.meta.dirname, folder, program), args);
  // The child's first message has this form.
  const [ready] = (await once(child, 'message')) as [Ready];
  return [child, ready];
}

moveToCore(LOAD_CORE);
const [upstream, { port: upstreamPort }] = await start('upstream.ts', []);
const [gateway, { port }] = await start('gateway.ts', [`http://127.0.0.1:${String(upstreamPort)}`]);

async function cpuMicroseconds(): Promise<number> {
  const answer = once(gateway, 'message');
  gateway.send('usage');
  // Later messages are CPU times.
  return ((await answer) as [number])[0];
}

/** Returns the CPU microseconds of one request. */
async function costOf(bytes: string, requests: number): Promise<number> {
  const before = await cpuMicroseconds();
  for (let sent = 0; sent < requests; sent += 1) await exchange(port, bytes);
  return ((await cpuMicroseconds()) - before) / requests;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
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
gateway.kill();
upstream.kill();

const rows = [...ratios].map(([{ name }, values]) => ({ name, ratio: median(values) }));
const shown = rows.toSorted((a, b) => b.ratio - a.ratio).slice(0, SHOWN);
console.log(`an ordinary request: ${median(ordinaryCosts).toFixed(0)} microseconds of CPU`);
console.log(
  `the ${String(SHOWN)} costliest of ${String(rows.length)} shapes, in ordinary requests:`,
);
for (const { name, ratio } of shown) console.log(`${ratio.toFixed(2).padStart(8)}  ${name}`);
console.log(`D-075 allows at most ${String(ALLOWED)}`);
