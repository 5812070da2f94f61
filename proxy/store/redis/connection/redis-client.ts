import type { OpenConnection } from './keep-open.ts';
import type { RedisAddress } from './redis-target.ts';

/** Argument of a command. */
export type RedisArgument = string | number;

/** An open connection to wherever the keys are. It does not reconnect as a whole. */
export interface RedisClient extends OpenConnection {
  call(command: string, args: readonly RedisArgument[]): Promise<unknown>;
  /** The same on every master. */
  callEveryMaster(command: string, args: readonly RedisArgument[]): Promise<readonly unknown[]>;
  /** The nodes of a Cluster; none where there is no Cluster. */
  nodes(): readonly RedisAddress[];
}
