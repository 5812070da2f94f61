import type { OpenConnection } from './keep-open.ts';
import type { RedisAddress } from './redis-target.ts';

/** An argument of a command. */
export type RedisArgument = string | number;

/** An open connection to the servers that hold the keys. Once closed, it stays closed. */
export interface RedisClient extends OpenConnection {
  call(command: string, args: readonly RedisArgument[]): Promise<unknown>;
  /** Runs the command on every master. */
  callEveryMaster(command: string, args: readonly RedisArgument[]): Promise<readonly unknown[]>;
  /** Returns the nodes of a Cluster; none without a Cluster. */
  nodes(): readonly RedisAddress[];
}
