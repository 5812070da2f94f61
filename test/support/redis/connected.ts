import { RedisConnection } from '../../../proxy/store/redis/connection/redis-connection.ts';
import { parseRedisUrl } from '../../../proxy/store/redis/connection/redis-url.ts';
import { HANG_GUARD_MS } from '../eventually.ts';
import { createRecordingLogger, type RecordingLogger } from './recording-logger.ts';

/** A working connection, and its log. */
export interface Connected extends AsyncDisposable {
  readonly connection: RedisConnection;
  readonly logger: RecordingLogger;
}

/** Connects to a running Redis. */
export async function connected(url: string): Promise<Connected> {
  const logger = createRecordingLogger();
  const connection = new RedisConnection(parseRedisUrl(url), { logger });
  const isReady = await connection.waitUntilReady(HANG_GUARD_MS);
  if (!isReady) throw new Error(`not connected: ${JSON.stringify(logger.records)}`);
  return { connection, logger, [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose]() };
}
