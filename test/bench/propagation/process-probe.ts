/**
 * Loaded into a measured process ahead of its program: tells of its memory, of how late its event
 * loop was since the last question, and when it started.
 */
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';

/** Where it answers: path of a Unix socket. */
export const PROBE_SOCKET = 'PROBE_SOCKET';

/** What a process tells of itself. */
export interface ProbeReport {
  readonly startedAtMs: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** How late each beat was, in milliseconds. */
  readonly latenessMs: readonly number[];
}

const BEAT_MS = 5;

function startProbe(path: string): void {
  let lateness: number[] = [];
  let lastBeat = performance.now();
  setInterval(() => {
    const now = performance.now();
    lateness.push(Math.max(0, now - lastBeat - BEAT_MS));
    lastBeat = now;
  }, BEAT_MS).unref();
  const server = createServer((socket) => {
    const { rss: residentBytes, heapUsed: heapBytes } = process.memoryUsage();
    const startedAtMs = performance.timeOrigin;
    const report: ProbeReport = { startedAtMs, residentBytes, heapBytes, latenessMs: lateness };
    socket.end(JSON.stringify(report));
    lateness = [];
  });
  // The one before may have been killed.
  rmSync(path, { force: true });
  server.listen(path).unref();
}

const path = process.env[PROBE_SOCKET];
if (path !== undefined) startProbe(path);
