/**
 * A gateway that is measured. Its arguments are the upstream, the sealing key and, for state in Redis,
 * the URL. It empties its caches when the parent asks it to.
 */
import { Sealer } from '../../../proxy/crypto/sealer.ts';
import type { SealingKeys } from '../../../proxy/crypto/sealing-key.ts';
import { createMemoryStores } from '../../../proxy/store/memory/memory-stores.ts';
import { RedisConnection } from '../../../proxy/store/redis/connection/redis-connection.ts';
import { createRedisStores } from '../../../proxy/store/redis/stores/redis-stores.ts';
import { parseRedisUrl } from '../../../proxy/store/redis/connection/redis-url.ts';
import type { Revocation } from '../../../proxy/store/revocations.ts';
import type { Stores } from '../../../proxy/store/stores.ts';
import { LineWriter } from '../../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../../shared/telemetry/logger.ts';
import { startBenchGateway } from '../forward/bench-gateway.ts';
import { discard, reportReady } from '../support/subject-process.ts';
import { ROUTE_PORT } from './route-port.ts';

const PATIENCE_MS = 5000;

const [, , upstream = '', key = '', redisUrl] = process.argv;
const sealingKeys: SealingKeys = [{ secret: Buffer.from(key, 'hex') }];
const listeners = new Set<(revocation: Revocation) => void>();
const stores = overheard(await openStores());
const { port, tokens } = await startBenchGateway({
  ...{ upstream, stores, sealingKeys },
  routePort: ROUTE_PORT,
});

process.on('message', () => {
  for (const listener of listeners) listener({ kind: 'missed' });
  process.send?.('done');
});
reportReady({ port, tokens });

async function openStores(): Promise<Stores> {
  if (redisUrl === undefined) return createMemoryStores();
  const logger = createLogger('bench', new LineWriter(discard));
  const connection = new RedisConnection(parseRedisUrl(redisUrl), { logger });
  if (!(await connection.waitUntilReady(PATIENCE_MS))) throw new Error('Redis does not answer');
  return createRedisStores(connection, new Sealer(sealingKeys));
}

/** The same stores, but revocations can be announced that nobody made. */
function overheard(real: Stores): Stores {
  return {
    ...real,
    revocations: {
      publish: (revocation) => real.revocations.publish(revocation),
      subscribe: (listener) => {
        listeners.add(listener);
        return real.revocations.subscribe(listener);
      },
    },
  };
}
