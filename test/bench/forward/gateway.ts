/** The gateway. Its argument is the upstream; it logs to stdout if asked to. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { createMemoryStores } from '../../../proxy/store/memory/memory-stores.ts';
import { openProcessLog } from '../../../shared/telemetry/process-log.ts';
import { reportReady } from '../support/subject-process.ts';
import { startBenchGateway } from './bench-gateway.ts';
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
  },
});
const { port, tokens } = await startBenchGateway({
  upstream: positionals[0] ?? '',
  stores: createMemoryStores(),
  sealingKeys: [{ secret: randomBytes(32) }],
  // Only this benchmark starts it.
  workload: values.workload as Workload,
  routes: Number(values.routes),
  ...(values.log && { lines: openProcessLog(process.stdout) }),
});
reportReady(port, tokens);
