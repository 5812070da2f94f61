import type { Logger } from '../../../../shared/telemetry/logger.ts';
import type { RedisArgument } from './redis-client.ts';
import type { RedisSubscriber } from './redis-subscription.ts';

/** A reply of Redis. */
export type RedisReply = string | number | null | readonly RedisReply[];

/** A Lua script. It must be a constant: Redis knows it by its text. */
export interface RedisScript {
  readonly lua: string;
  readonly keyCount: number;
}

/** Sends commands to Redis. */
export interface RedisCommands {
  /** Begins every key and channel, e.g. `gatehouse:`. */
  readonly prefix: string;
  /**
   * Sends one command, with whole keys (prefix included).
   *
   * Rejects with a `StoreUnavailableError`, which carries no argument, if Redis is unreachable,
   * does not answer in time, or refuses the command. The command may still have had its effect.
   */
  send(command: string, ...args: readonly RedisArgument[]): Promise<RedisReply>;
  /** Runs one Lua script, atomically; all keys must be in one slot. Rejects as `send` does. */
  run(
    script: RedisScript,
    keys: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<RedisReply>;
}

/** Sends commands to Redis and subscribes to its channels. */
export interface RedisMessaging extends RedisCommands {
  readonly logger: Logger;
  /** Resolves with whether Redis became reachable within that time. */
  waitUntilReady(ms: number): Promise<boolean>;
  /** Subscribes to a channel, over a connection of its own that is restored when it breaks. */
  subscribe(channel: string, subscriber: RedisSubscriber): AsyncDisposable;
}

/** Iterates over keys. */
export interface RedisScanning extends RedisCommands {
  /**
   * Iterates over the keys that match a glob pattern, on every master, some at a time. Every key is there that
   * exists from the beginning to the end, some more than once. Rejects as `send` does.
   */
  scan(pattern: string): AsyncIterable<readonly string[]>;
}
