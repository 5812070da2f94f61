import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { percentile } from '../support/percentile.ts';
import { LOAD_CORE, onCore } from '../support/pinned.ts';
import type { Subject } from './bench-world.ts';
import type { PacedJob } from './paced-load.ts';

const CONNECTIONS = 64;
const WARM_UP = 4_000;

/** Milliseconds that requests took. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** Measures how long requests take at a fixed rate (per millisecond). */
export async function measureLatency(
  { port, tokens, workload }: Subject,
  perMillisecond: number,
  durationMs: number,
): Promise<Latency> {
  const program = join(import.meta.dirname, 'paced-load.ts');
  const [file = '', ...args] = onCore(LOAD_CORE, [process.execPath, program]);
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const requests = Math.ceil(perMillisecond * durationMs);
  const job: PacedJob = {
    ...{ port, tokens, workload, connections: CONNECTIONS },
    ...{ warmUp: WARM_UP, perMillisecond, requests },
  };
  child.stdin.end(JSON.stringify(job));
  // The program prints a list of numbers.
  const times = JSON.parse(await text(child.stdout)) as readonly number[];
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
