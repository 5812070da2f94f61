import { RedisConnection } from '../../../proxy/store/redis/connection/redis-connection.ts';
import { parseRedisUrl } from '../../../proxy/store/redis/connection/redis-url.ts';
import { createRecordingLogger, type RecordingLogger } from './recording-logger.ts';

const READY_WITHIN_MS = 5000;

/** A working connection, and its log. */
export interface Connected extends AsyncDisposable {
  readonly connection: RedisConnection;
  readonly logger: RecordingLogger;
}

/** Connects to a running Redis. */
export async function connected(url: string): Promise<Connected> {
  const logger = createRecordingLogger();
  const connection = new RedisConnection(parseRedisUrl(url), { logger });
  const isReady = await connection.waitUntilReady(READY_WITHIN_MS);
  if (!isReady) throw new Error(`not connected: ${JSON.stringify(logger.records)}`);
  return { connection, logger, [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose]() };
}
