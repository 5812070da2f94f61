import { randomUUID } from 'node:crypto';

import { MemoryRevocations } from '../../memory/memory-revocations.ts';
import type { Revocation, Revocations } from '../../revocations.ts';
import type { RedisMessaging } from '../connection/redis-commands.ts';
import { formatRevocationMessage, parseRevocationMessage } from './revocation-message.ts';

/** Longer than a connection takes to notice that Redis is back. */
const REUNION_MS = 2000;

/**
 * Revocations among all proxies on one Redis.
 *
 * Listeners of this process hear without Redis. What was published while the subscription was lost
 * nobody knows, so listeners are told that some were missed: at once when Redis is there and only
 * the subscription is not, and otherwise when it is back. Without Redis nobody can publish, and
 * caches are all there is.
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
      message: (text) => this.#received(text),
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

  #received(text: string): void {
    const message = parseRevocationMessage(text);
    if (message === undefined) {
      // Its text stays out of the log: nobody knows what it is.
      this.#connection.logger.warn('redis message not understood', { channel: this.#channel });
      return;
    }
    if (message.publisher !== this.#publisher) this.#tell(message.revocation);
  }

  async #lost(): Promise<void> {
    try {
      await this.#connection.send('PING');
    } catch {
      return;
    }
    this.#tell({ kind: 'missed' });
  }

  /**
   * Commands have a connection of their own, which may be back a moment later. Before that, caches
   * could only refuse: the outage ends with it.
   */
  async #restored(): Promise<void> {
    await this.#connection.waitUntilReady(REUNION_MS);
    this.#tell({ kind: 'missed' });
  }

  #tell(revocation: Revocation): void {
    this.#local.publish(revocation).catch((error: unknown) => {
      const { kind } = revocation;
      this.#connection.logger.error('revocation not heeded', { kind }, error);
    });
  }
}
