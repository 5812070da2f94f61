import { randomUUID } from 'node:crypto';

import { MemoryRevocations } from '../../memory/memory-revocations.ts';
import type { Revocation, Revocations } from '../../revocations.ts';
import type { RedisMessaging } from '../connection/redis-commands.ts';
import { formatRevocationMessage, parseRevocationMessage } from './revocation-message.ts';

/** Longer than the connection for commands takes to notice that Redis is back. */
const RECONNECT_WAIT_MS = 2000;

/**
 * Revocations among all proxies on one Redis.
 *
 * Listeners of this process are called without Redis. Revocations published while the subscription
 * was lost are unknown, so listeners are called with `missed`: at once if Redis itself is
 * reachable, otherwise when it is back. Without Redis no proxy can publish, and only the caches can
 * answer.
 */
export class RedisRevocations implements Revocations {
  readonly #connection: RedisMessaging;
  readonly #channel: string;
  readonly #publisher = randomUUID();
  readonly #local = new MemoryRevocations();
  #listeners = 0;
  #subscription: AsyncDisposable | undefined;

  constructor(connection: RedisMessaging) {
    this.#connection = connection;
    this.#channel = `${connection.prefix}revocations`;
  }

  async publish(revocation: Revocation): Promise<void> {
    const heard = this.#local.publish(revocation);
    const message = formatRevocationMessage({ publisher: this.#publisher, revocation });
    const [local, shared] = await Promise.allSettled([
      heard,
      this.#connection.send('PUBLISH', this.#channel, message),
    ]);
    if (shared.status === 'rejected') throw shared.reason;
    if (local.status === 'rejected') throw local.reason;
  }

  subscribe(listener: (revocation: Revocation) => void): () => void {
    const unsubscribe = this.#local.subscribe(listener);
    this.#listeners += 1;
    this.#subscription ??= this.#connection.subscribe(this.#channel, {
      message: (text) => this.#receive(text),
      lost: () => void this.#lost(),
      restored: () => void this.#restored(),
    });
    let isSubscribed = true;
    return () => {
      if (!isSubscribed) return;
      isSubscribed = false;
      unsubscribe();
      this.#listeners -= 1;
      if (this.#listeners === 0) this.#end();
    };
  }

  #end(): void {
    const subscription = this.#subscription;
    this.#subscription = undefined;
    void subscription?.[Symbol.asyncDispose]();
  }

  #receive(text: string): void {
    const message = parseRevocationMessage(text);
    if (message === undefined) {
      // The log leaves out the text, which may be anything.
      this.#connection.logger.warn('redis message is malformed', { channel: this.#channel });
      return;
    }
    if (message.publisher !== this.#publisher) this.#notify(message.revocation);
  }

  async #lost(): Promise<void> {
    try {
      await this.#connection.send('PING');
    } catch {
      return;
    }
    this.#notify({ kind: 'missed' });
  }

  /**
   * Waits for the connection for commands, which may be back a moment later than the subscription.
   * Until then, requests with an emptied cache would have to be refused.
   */
  async #restored(): Promise<void> {
    await this.#connection.waitUntilReady(RECONNECT_WAIT_MS);
    this.#notify({ kind: 'missed' });
  }

  #notify(revocation: Revocation): void {
    this.#local.publish(revocation).catch((error: unknown) => {
      const { kind } = revocation;
      this.#connection.logger.error('revocation handler failed', { kind }, error);
    });
  }
}
