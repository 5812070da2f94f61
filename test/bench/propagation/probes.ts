import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

import { percentile } from '../support/percentile.ts';
import { PROBE_SOCKET, type ProbeReport } from './process-probe.ts';

const PROBE = pathToFileURL(join(import.meta.dirname, 'process-probe.ts')).href;

/** Measurements that a process reports of itself. */
export interface ProcessReport {
  readonly startedAtMs: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly lag: { readonly p99: number; readonly max: number };
}

/** Asks measured processes for their reports, by the names they were started with. */
export class Probes implements AsyncDisposable {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(): Promise<Probes> {
    return new Probes(await mkdtemp(join(tmpdir(), 'gatehouse-probes-')));
  }

  /** Environment of a process that can be asked. */
  variables(name: string): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${PROBE}`, [PROBE_SOCKET]: this.#path(name) };
  }

  /** Returns the report; the lag is that since the last report. */
  async ask(name: string): Promise<ProcessReport> {
    const socket = connect(this.#path(name));
    await once(socket, 'connect');
    // The probe writes this form.
    const { latenessMs, ...report } = (await json(socket)) as ProbeReport;
    const lag = { p99: percentile(latenessMs, 0.99), max: percentile(latenessMs, 1) };
    return { ...report, lag };
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true });
  }
}
