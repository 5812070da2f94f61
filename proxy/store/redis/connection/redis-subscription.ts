import type { Logger } from '../../../../shared/telemetry/logger.ts';
import { keepOpen, type OpenConnection } from './keep-open.ts';
import { openServer } from './open-server.ts';
import { describeRedisFailure } from './redis-failure.ts';
import type { RedisAddress, RedisTarget } from './redis-target.ts';

/** A connection that broke silently is noticed within this time and a command timeout. */
const HEARTBEAT_MS = 2000;

/** Handlers of a subscription. None may throw. */
export interface RedisSubscriber {
  message(text: string): void;
  /** The subscription was lost: messages are missed until `restored`. */
  lost(): void;
  /** The subscription was restored; messages since `lost` were missed. */
  restored(): void;
}

/** Options of `keepSubscribed`. */
export interface SubscriptionOptions {
  readonly target: RedisTarget;
  /** Returns the known nodes of a Cluster; called for every attempt. */
  readonly nodes: () => readonly RedisAddress[];
  readonly channel: string;
  readonly logger: Logger;
}

/** Stays subscribed, over a connection of its own, until the result is disposed of. */
export function keepSubscribed(
  options: SubscriptionOptions,
  subscriber: RedisSubscriber,
): AsyncDisposable {
  const { channel, logger } = options;
  let state: 'new' | 'subscribed' | 'lost' = 'new';
  return keepOpen((signal) => openSubscription(options, subscriber, signal), {
    opened: () => {
      const wasLost = state === 'lost';
      state = 'subscribed';
      if (!wasLost) return;
      logger.info('redis subscription restored', { channel });
      subscriber.restored();
    },
    lost: (reason) => {
      if (state === 'lost') return;
      const wasSubscribed = state === 'subscribed';
      state = 'lost';
      logger.warn('redis subscription lost', { channel, reason: describeRedisFailure(reason) });
      if (wasSubscribed) subscriber.lost();
    },
  });
}

async function openSubscription(
  { target, nodes, channel }: SubscriptionOptions,
  subscriber: RedisSubscriber,
  signal: AbortSignal,
): Promise<OpenConnection> {
  const { redis, closed } = await openServer(target, signal, nodeFor(target, nodes()));
  redis.on('message', (_channel: string, text: string) => subscriber.message(text));
  try {
    await redis.subscribe(channel);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  const heartbeat = setInterval(() => {
    redis.ping().catch(() => redis.disconnect());
  }, HEARTBEAT_MS);
  return { closed: closed.finally(() => clearInterval(heartbeat)) };
}

/** Picks any node of a Cluster, because messages reach all of them. */
function nodeFor(target: RedisTarget, known: readonly RedisAddress[]): RedisAddress | undefined {
  if (target.kind !== 'cluster') return undefined;
  const nodes = known.length > 0 ? known : target.nodes;
  return nodes[Math.floor(Math.random() * nodes.length)];
}
