import { LogLimit } from '../log-limit.ts';
import type { ProxySession, SessionContext } from './proxy-session.ts';

/** How often a duplicate id is logged: two such proxies replace each other's streams endlessly. */
const DUPLICATE_LOG_MS = 60_000;

/** Options of `ProxySessions`. */
export interface ProxySessionsOptions extends Pick<SessionContext, 'timing' | 'clock' | 'logger'> {
  /** Called when a proxy has been disconnected for so long that it does not count. */
  readonly onLeft: (id: string) => void;
}

/** The open sessions, one for each proxy, and the proxies that disconnected a short time ago. */
export class ProxySessions {
  readonly #options: ProxySessionsOptions;
  readonly #sessions = new Map<string, ProxySession>();
  /** Timers by proxy that disconnected. */
  readonly #leaving = new Map<string, Disposable>();
  readonly #duplicates: LogLimit;
  #isClosed = false;
  #onEmpty: () => void = () => undefined;

  constructor(options: ProxySessionsOptions) {
    this.#options = options;
    this.#duplicates = new LogLimit(DUPLICATE_LOG_MS, () => options.clock.now());
  }

  /** Ends the session that a proxy has, before it gets another. */
  replace(id: string): void {
    this.#cancelLeaving(id);
    const before = this.#sessions.get(id);
    before?.replace();
    // A proxy that was cut off may also reconnect before the controller notices.
    if (before !== undefined && this.#duplicates.admits(id)) {
      this.#options.logger.warn('duplicate proxy id', { proxy: id });
    }
  }

  /** Adds a session. Logs a proxy that was not connected before. */
  add(session: ProxySession, { routes }: { readonly routes: number }): void {
    const { id } = session;
    if (!this.#sessions.has(id))
      this.#options.logger.info('proxy connected', { proxy: id, routes });
    this.#sessions.set(id, session);
  }

  /** Whether the proxy has not opened another session since. */
  isCurrent(session: ProxySession): boolean {
    return this.#sessions.get(session.id) === session;
  }

  /** Removes a session that is closed: its proxy leaves, unless it connects again in time. */
  remove({ id }: ProxySession): void {
    this.#sessions.delete(id);
    if (this.#sessions.size === 0) this.#onEmpty();
    if (this.#isClosed) return;
    const { clock, timing, onLeft } = this.#options;
    const timer = clock.after(timing.leaveMs, () => {
      this.#leaving.delete(id);
      onLeft(id);
    });
    this.#leaving.set(id, timer);
  }

  wakeAll(): void {
    for (const session of this.#sessions.values()) session.wake();
  }

  /** Asks all proxies to disconnect, and resolves when they have. */
  async endAll(reason: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#onEmpty = () => resolve(undefined);
    if (this.#sessions.size === 0) resolve(undefined);
    for (const session of this.#sessions.values()) session.end(reason);
    await promise;
  }

  /** Drops all connections, and forgets the proxies that were leaving. */
  abortAll(): void {
    this.#isClosed = true;
    for (const session of this.#sessions.values()) session.abort();
    for (const id of this.#leaving.keys()) this.#cancelLeaving(id);
  }

  #cancelLeaving(id: string): void {
    this.#leaving.get(id)?.[Symbol.dispose]();
    this.#leaving.delete(id);
  }
}
