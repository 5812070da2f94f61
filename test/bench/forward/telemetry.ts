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
  world.stack.use(scrape(scraped.adminPort));
  return {
    off,
    sampledNone: await start('sampled 0', ['--collector', collector, '--sampled', '0']),
    sampledAll: await start('sampled 1', ['--collector', collector, '--sampled', '1']),
    scraped,
  };
}

/** Reads the metrics of a process every second, as Prometheus does. */
function scrape(port: number | undefined): Disposable {
  if (port === undefined) throw new Error('the gateway has no admin port');
  const headers = { accept: 'text/plain;version=0.0.4' };
  const timer = setInterval(() => {
    fetch(`http://127.0.0.1:${String(port)}/metrics`, { headers })
      .then((response) => response.arrayBuffer())
      .catch((error: unknown) => console.error('the metrics cannot be read', error));
  }, SCRAPE_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
