import { randomBytes } from 'node:crypto';

import { createMemoryStores } from '../../../proxy/store/memory/memory-stores.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { reportReady } from '../support/subject-process.ts';

const { port, tokens } = await startBenchGateway({
  upstream: process.argv[2] ?? '',
  stores: createMemoryStores(),
  sealingKeys: [{ secret: randomBytes(32) }],
});
reportReady(port, tokens);
