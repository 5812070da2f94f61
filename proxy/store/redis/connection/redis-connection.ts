import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';

import type { Logger } from '../../../../shared/telemetry/logger.ts';
import { inSpan } from '../../../../shared/telemetry/tracing/active-trace.ts';
import { StoreUnavailableError } from '../../store-unavailable-error.ts';
import { EvictionWarnings } from './eviction-warnings.ts';
import { keepOpen } from './keep-open.ts';
import { openClusterClient } from './open-cluster-client.ts';
import { openSingleClient } from './open-single-client.ts';
import { OutageLog } from './outage-log.ts';
import type { RedisArgument, RedisClient } from './redis-client.ts';
import { describeRedisFailure, isUnknownScript, needsOperator } from './redis-failure.ts';
import type { RedisMessaging, RedisReply, RedisScanning, RedisScript } from './redis-commands.ts';
import { FIRST_CURSOR, parseScanReply } from './scan-reply.ts';
import { keepSubscribed, type RedisSubscriber } from './redis-subscription.ts';
import { formatTarget, type RedisTarget } from './redis-target.ts';

/** Lifetime of the key that is written to test whether writing is allowed. */
const PROBE_LIFETIME_MS = 1000;

/** Keys that one command looks at: it must not hold up those of others. */
const SCAN_COUNT = 500;

const MS_PER_SECOND = 1000;

/** Sends a command to an open connection. */
type Send = (client: RedisClient) => Promise<unknown>;

/** Receives how each command ended. */
export interface RedisObserver {
  observe(outcome: 'ok' | 'failed', seconds: number): void;
}

/** Options of a `RedisConnection`. */
export interface RedisConnectionOptions {
  readonly logger: Logger;
  readonly observer?: RedisObserver;
}

/**
 * Connects to Redis, and reconnects whenever the connection breaks. Without a connection every
 * command fails. Disposing of it ends its subscriptions too.
 */
export class RedisConnection implements RedisMessaging, RedisScanning, AsyncDisposable {
  readonly prefix: string;
  readonly logger: Logger;
  readonly #target: RedisTarget;
  readonly #observer: RedisObserver | undefined;
  readonly #outages: OutageLog;
  readonly #kept: AsyncDisposable;
  readonly #subscriptions = new Set<AsyncDisposable>();
  readonly #evictions: EvictionWarnings;
  #client: RedisClient | undefined;
  #reason = 'not connected yet';
  #ready = Promise.withResolvers<undefined>();

  constructor(target: RedisTarget, { logger, observer }: RedisConnectionOptions) {
    this.prefix = target.prefix;
    this.logger = logger;
    this.#target = target;
    this.#observer = observer;
    this.#outages = new OutageLog(logger, formatTarget(target));
    this.#evictions = new EvictionWarnings(logger);
    this.#kept = keepOpen((signal) => openClient(target, signal, logger), {
      opened: (client) => this.#opened(client),
      lost: (reason) => this.#lost(describeRedisFailure(reason)),
    });
  }

  /** Whether commands can be sent. */
  get isReachable(): boolean {
    return this.#client !== undefined;
  }

  send(command: string, ...args: readonly RedisArgument[]): Promise<RedisReply> {
    return this.#exchange(command, (client) => client.call(command, args));
  }

  async run(
    { lua, keyCount }: RedisScript,
    keys: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<RedisReply> {
    if (keys.length !== keyCount) throw new TypeError(`the script takes ${String(keyCount)} keys`);
    const rest = [keyCount, ...keys, ...args];
    return await this.#exchange('EVALSHA', (client) =>
      client.call('EVALSHA', [digestOf(lua), ...rest]).catch((error: unknown) => {
        if (!isUnknownScript(error)) throw error;
        // Nothing ran: Redis has no scripts after a restart.
        return client.call('EVAL', [lua, ...rest]);
      }),
    );
  }

  async *scan(pattern: string): AsyncGenerator<readonly string[], void> {
    // These masters to the end: after a failover the keys of one could be left out.
    // Without a connection, the first command says why.
    const masters = this.#client?.masters() ?? [undefined];
    for (const master of masters) {
      let cursor = FIRST_CURSOR;
      do {
        const args = [cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT];
        const reply = await this.#exchange('SCAN', (client) =>
          (master ?? client).call('SCAN', args),
        );
        const page = parseScanReply(reply);
        cursor = page.cursor;
        yield page.keys;
      } while (cursor !== FIRST_CURSOR);
    }
  }

  async waitUntilReady(ms: number): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), ms);
    await Promise.race([this.#ready.promise, late]);
    clearTimeout(timer);
    return this.#client !== undefined;
  }

  /**
   * Returns why Redis refuses this proxy until an operator changes something, such as a password;
   * undefined if Redis serves this proxy, or is only unreachable.
   */
  async refusal(): Promise<string | undefined> {
    let reason = this.#reason;
    if (this.#client !== undefined) {
      try {
        await this.#probe(this.#client);
        return undefined;
      } catch (error) {
        reason = describeRedisFailure(error);
      }
    }
    return needsOperator(reason) ? reason : undefined;
  }

  /**
   * Runs commands like those of the stores: the user may lack rights, or have them for another
   * prefix only.
   */
  async #probe(client: RedisClient): Promise<void> {
    const probe = `${this.prefix}probe`;
    await client.call('SET', [probe, '1', 'PX', PROBE_LIFETIME_MS]);
    await client.call('EVAL', ["return redis.call('GET', KEYS[1])", 1, probe]);
    await client.call('PUBLISH', [probe, '']);
  }

  subscribe(channel: string, subscriber: RedisSubscriber): AsyncDisposable {
    const subscription = keepSubscribed(
      {
        target: this.#target,
        nodes: () => this.#client?.nodes() ?? [],
        channel,
        logger: this.logger,
      },
      subscriber,
    );
    this.#subscriptions.add(subscription);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#subscriptions.delete(subscription);
        await subscription[Symbol.asyncDispose]();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client = undefined;
    this.#reason = 'the connection was closed';
    const all = [this.#kept, ...this.#subscriptions];
    await Promise.all(all.map((each) => each[Symbol.asyncDispose]()));
  }

  /** Sends a command, and observes what becomes of it. */
  async #exchange(command: string, send: Send): Promise<RedisReply> {
    const startedAt = performance.now();
    let outcome: 'ok' | 'failed' = 'failed';
    try {
      const reply = await this.#sendInSpan(command, send);
      outcome = 'ok';
      return reply;
    } finally {
      this.#observer?.observe(outcome, (performance.now() - startedAt) / MS_PER_SECOND);
    }
  }

  async #sendInSpan(command: string, send: Send): Promise<RedisReply> {
    const client = this.#client;
    if (client === undefined) {
      throw new StoreUnavailableError(`Redis is unreachable: ${this.#reason}`);
    }
    const attributes = { 'db.system.name': 'redis', 'db.operation.name': command };
    // ioredis leaves the type of a reply open; over RESP 2 it is one of these.
    return inSpan('Redis command', 'client', attributes, () =>
      send(client).catch((error: unknown) => {
        // Before the span sees it: only this error is without the arguments of the command.
        throw unavailable(error);
      }),
    ) as Promise<RedisReply>;
  }

  #opened(client: RedisClient): void {
    this.#client = client;
    this.#outages.reachable();
    this.#ready.resolve(undefined);
    void this.#evictions.check(client);
  }

  #lost(reason: string): void {
    this.#reason = reason;
    this.#outages.unreachable(reason);
    if (this.#client === undefined) return;
    this.#client = undefined;
    this.#ready = Promise.withResolvers<undefined>();
  }
}

function openClient(
  target: RedisTarget,
  signal: AbortSignal,
  logger: Logger,
): Promise<RedisClient> {
  return target.kind === 'cluster'
    ? openClusterClient(target, signal, logger)
    : openSingleClient(target, signal);
}

/** Without a cause: errors of ioredis carry the arguments of the command. */
function unavailable(error: unknown): StoreUnavailableError {
  return new StoreUnavailableError(`Redis failed: ${describeRedisFailure(error)}`);
}

const digests = new Map<string, string>();

/** Scripts are constants: there are a few, and each is hashed once. */
function digestOf(lua: string): string {
  const known = digests.get(lua);
  if (known !== undefined) return known;
  const digest = createHash('sha1').update(lua).digest('hex');
  digests.set(lua, digest);
  return digest;
}
