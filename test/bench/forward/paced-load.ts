/**
 * Sends requests at a fixed rate, and prints how long each took from when it was due. It reads from stdin
 * what to send (`PacedJob`), and prints milliseconds as JSON.
 */
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';

import { openLoad, type Load } from './load.ts';

/** What a paced load sends. */
export interface PacedJob extends Load {
  /** Requests before those that count. */
  readonly warmUp: number;
  readonly perMillisecond: number;
  readonly requests: number;
}

const LOWEST_PRIORITY = 19;

// It uses all the time that the upstream leaves on their core.
setPriority(LOWEST_PRIORITY);
// Only `measureLatency` starts this program.
const job = JSON.parse(await text(process.stdin)) as PacedJob;
using load = await openLoad(job);
await load.send(job.warmUp);
await load.pace(job.perMillisecond, job.warmUp);
console.log(JSON.stringify(await load.pace(job.perMillisecond, job.requests)));
