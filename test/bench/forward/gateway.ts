/** The gateway. Its argument is the upstream; it logs to stdout if asked to. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { createMemoryStores } from '../../../proxy/store/memory/memory-stores.ts';
import { openProcessLog } from '../../../shared/telemetry/process-log.ts';
import { LineWriter } from '../../../shared/telemetry/line-writer.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import { discard, reportReady } from '../support/subject-process.ts';
import { startBenchGateway } from './bench-gateway.ts';
import type { BenchMetrics } from './bench-telemetry.ts';
import type { Workload } from './workload.ts';

// As the commands do that run a gateway; another checkout may be older than this.
if (existsSync(join(import.meta.dirname, '../../../cli/process/keep-compiled-code.ts'))) {
  const { keepCompiledCode } = await import('../../../cli/process/keep-compiled-code.ts');
  keepCompiledCode();
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    workload: { type: 'string', default: 'mcp' },
    routes: { type: 'string', default: '1' },
    log: { type: 'boolean', default: false },
    // Where spans are exported to, and the share of the traces that have any.
    collector: { type: 'string' },
    sampled: { type: 'string', default: '1' },
    metrics: { type: 'boolean', default: false },
    // Clients connect with TLS.
    tls: { type: 'boolean', default: false },
  },
});
const lines = values.log ? openProcessLog(process.stdout) : new LineWriter(discard);
const { tracer, served } = await startTelemetry();
const { port, tokens } = await startBenchGateway({
  upstream: positionals[0] ?? '',
  stores: createMemoryStores(),
  sealingKeys: [{ secret: randomBytes(32) }],
  // Only this benchmark starts it.
  workload: values.workload as Workload,
  routes: Number(values.routes),
  lines,
  tracer,
  metrics: served?.metrics,
  isTls: values.tls,
});
reportReady({ port, tokens, ...(served !== undefined && { adminPort: served.adminPort }) });

/** Loads nothing that is not asked for: another checkout may be older than it. */
async function startTelemetry(): Promise<{
  readonly tracer?: Tracer | undefined;
  readonly served?: BenchMetrics | undefined;
}> {
  const { collector, sampled, metrics } = values;
  if (collector === undefined && !metrics) return {};
  const { serveBenchMetrics, startBenchTracer } = await import('./bench-telemetry.ts');
  return {
    ...(collector !== undefined && { tracer: startBenchTracer(collector, Number(sampled), lines) }),
    ...(metrics && { served: await serveBenchMetrics(lines) }),
  };
}
