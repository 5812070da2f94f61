import { StoreUnavailableError } from '../../store-unavailable-error.ts';
import type { RedisReply } from './redis-commands.ts';
import { textsReply } from './replies.ts';

/** The cursor that begins an iteration, and that Redis returns at its end. */
export const FIRST_CURSOR = '0';

/** Some keys, and where to go on. */
export interface ScanPage {
  readonly cursor: string;
  readonly keys: readonly string[];
}

/** Parses a reply to SCAN. Throws `StoreUnavailableError` if it is not one. */
export function parseScanReply(reply: RedisReply): ScanPage {
  const [cursor, keys] = Array.isArray(reply) ? (reply as readonly RedisReply[]) : [];
  if (typeof cursor === 'string' && keys !== undefined) return { cursor, keys: textsReply(keys) };
  throw new StoreUnavailableError('Redis answered SCAN with something else');
}
