import { join } from 'node:path';

import { startProgram } from '../support/bench-program.ts';
import { LOAD_CORE } from '../support/pinned.ts';
import type { BenchWorld, Subject } from './bench-world.ts';

/** How often the metrics are scraped: more often than anybody does. */
const SCRAPE_MS = 1_000;

/** The main row without tracing and without scrapes, and the same with either. */
export interface TelemetrySubjects {
  readonly off: Subject;
  /** Tracing is on, and no trace is sampled. */
  readonly sampledNone: Subject;
  /** Every trace is sampled, and its spans are exported to a collector in another process. */
  readonly sampledAll: Subject;
  /** The metrics are scraped. */
  readonly scraped: Subject;
}

/** Starts the gateways that differ from `off` in tracing or metrics, and the collector. */
export async function startTelemetrySubjects(
  world: BenchWorld,
  off: Subject,
): Promise<TelemetrySubjects> {
  const file = join(import.meta.dirname, 'collector.ts');
  const { port } = world.stack.use(await startProgram(file, { core: LOAD_CORE }));
  const collector = `http://127.0.0.1:${String(port)}`;
  const start = (name: string, args: readonly string[]): ReturnType<BenchWorld['startGateway']> =>
    world.startGateway({ name: `gateway, MCP, ${name}`, workload: 'mcp', routes: 1, args });
  const scraped = await start('metrics', ['--metrics']);
  const scraper = world.stack.use(new Scraper(scraped.adminPort));
  return {
    off,
    sampledNone: await start('sampled 0', ['--collector', collector, '--sampled', '0']),
    sampledAll: await start('sampled 1', ['--collector', collector, '--sampled', '1']),
    scraped: { ...scraped, disturb: () => scraper.begin() },
  };
}

/**
 * Reads the metrics of a process every second, as Prometheus does, but only while that process is measured: all
 * subjects share a core, and it would take time from the others.
 */
class Scraper implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #isOn = false;

  constructor(port: number | undefined) {
    if (port === undefined) throw new Error('the gateway has no admin port');
    const url = `http://127.0.0.1:${String(port)}/metrics`;
    this.#timer = setInterval(() => {
      if (this.#isOn) void scrape(url);
    }, SCRAPE_MS);
  }

  /** Scrapes until the result is disposed of. */
  begin(): Disposable {
    this.#isOn = true;
    return { [Symbol.dispose]: () => (this.#isOn = false) };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

async function scrape(url: string): Promise<void> {
  try {
    const response = await fetch(url, { headers: { accept: 'text/plain;version=0.0.4' } });
    await response.arrayBuffer();
  } catch (error) {
    console.error('the metrics cannot be read', error);
  }
}
