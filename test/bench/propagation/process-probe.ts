/**
 * Loaded into a measured process before its program. Reports memory, the delays of its event loop
 * since the last report, and when the process started.
 */
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';

/** Path of the Unix socket that it listens on. */
export const PROBE_SOCKET = 'PROBE_SOCKET';

/** Measurements that a process reports of itself. */
export interface ProbeReport {
  readonly startedAtMs: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** Delay of each beat in milliseconds. */
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
  // A process of this name that was killed leaves its socket.
  rmSync(path, { force: true });
  server.listen(path).unref();
}

const path = process.env[PROBE_SOCKET];
if (path !== undefined) startProbe(path);
