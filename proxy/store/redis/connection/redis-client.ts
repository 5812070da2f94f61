import type { OpenConnection } from './keep-open.ts';
import type { RedisAddress } from './redis-target.ts';

/** An argument of a command. */
export type RedisArgument = string | number;

/** Takes commands. */
export interface RedisCallee {
  call(command: string, args: readonly RedisArgument[]): Promise<unknown>;
}

/** An open connection to the servers that hold the keys. Once closed, it stays closed. */
export interface RedisClient extends OpenConnection, RedisCallee {
  /** Every master: together they hold all keys. */
  masters(): readonly RedisCallee[];
  /** Returns the nodes of a Cluster; none without a Cluster. */
  nodes(): readonly RedisAddress[];
}
