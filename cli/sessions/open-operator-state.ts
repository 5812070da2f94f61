import { Sealer } from '../../proxy/crypto/sealer.ts';
import { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { formatTarget } from '../../proxy/store/redis/connection/redis-target.ts';
import { RedisInventory } from '../../proxy/store/redis/stores/redis-inventory.ts';
import { createRedisStores } from '../../proxy/store/redis/stores/redis-stores.ts';
import { StoreUnavailableError } from '../../proxy/store/store-unavailable-error.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { CommandFailure } from '../command-failure.ts';
import type { StateSource } from '../flags/state-flags.ts';
import { readRedisTarget } from '../process/redis-target.ts';
import { readKeptSealingKeys, readSealingKeys } from '../process/sealing-keys.ts';

const PATIENCE_MS = 5000;

/** An operator reads the error of the command, and no log of connections. */
const SILENT: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The state of a gateway, for its operators. */
export interface OperatorState {
  readonly stores: Stores;
  readonly inventory: RedisInventory;
}

/**
 * Lets an operator use the state of a gateway. Throws `CommandFailure` if Redis or the keys cannot be used, also
 * in the middle of `use`.
 */
export async function withOperatorState<Result>(
  { redis, keys }: StateSource,
  use: (state: OperatorState) => Promise<Result>,
): Promise<Result> {
  const target = await readRedisTarget(redis);
  const { kind, directory } = keys;
  const read = kind === 'keys' ? readSealingKeys : readKeptSealingKeys;
  const sealer = new Sealer(await read(directory));
  await using connection = new RedisConnection(target, { logger: SILENT });
  const isReady = await connection.waitUntilReady(PATIENCE_MS);
  const refusal = await connection.refusal();
  if (!isReady || refusal !== undefined) {
    const reason = refusal ?? 'it does not answer';
    throw new CommandFailure(`Redis at ${formatTarget(target)} cannot be used: ${reason}`);
  }
  try {
    return await use({
      stores: createRedisStores(connection, sealer),
      inventory: new RedisInventory(connection, sealer),
    });
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new CommandFailure(`${error.message}${adviceOn(error)}`, { cause: error });
  }
}

function adviceOn({ message }: StoreUnavailableError): string {
  return message.includes('may not run scan') ? '; it needs +scan (docs/redis.md)' : '';
}
