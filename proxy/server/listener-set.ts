import type { ListenAddress } from '../../shared/runtime/listen-address.ts';
import type { ListenerHandlers } from '../http/listener-handlers.ts';
import { createListener, type Listener } from './listener.ts';

/**
 * Where listeners for TLS stand: `unneeded` without an address or a certificate for them, `missing` while one
 * cannot be opened, and `open` for good once all are.
 */
type TlsListening = 'unneeded' | 'missing' | 'open';

/** The listeners of a process. Those for TLS open once there is a certificate, and stay open. */
export class ListenerSet {
  readonly #handlers: ListenerHandlers;
  /** By the address that was requested. */
  #listeners: ReadonlyMap<string, Listener> = new Map();
  /** Listeners that accept no more connections. */
  #closing: readonly Listener[] = [];
  /** Resolves when the last change of the set is made: changes take turns. */
  #turn: Promise<unknown> = Promise.resolve();
  #wanted: readonly ListenAddress[] = [];
  #hasCertificate = false;
  #tls: TlsListening = 'unneeded';

  constructor(handlers: ListenerHandlers) {
    this.#handlers = handlers;
  }

  /**
   * Listens on exactly these addresses, and resolves with the bound addresses, in the same order. Current
   * listeners of these addresses stay open. Rejects, and changes nothing, if an address cannot be bound. An
   * address for TLS waits for `openTls`.
   */
  listen(addresses: readonly ListenAddress[]): Promise<readonly ListenAddress[]> {
    this.#wanted = addresses;
    return this.#open();
  }

  /**
   * Opens the listeners for TLS, now and later, because there is a certificate. Resolves with all bound
   * addresses if one of them is new. Rejects if an address cannot be bound; another call tries again.
   */
  async openTls(): Promise<readonly ListenAddress[] | undefined> {
    this.#hasCertificate = true;
    if (!this.#wanted.some(isForTls)) return undefined;
    await this.#turn;
    return this.#tls === 'open' ? undefined : await this.#open();
  }

  async #open(): Promise<readonly ListenAddress[]> {
    const addresses = this.#wanted.filter((address) => this.#hasCertificate || !isForTls(address));
    const wanted = new Map(addresses.map((address) => [keyOf(address), address]));
    const change = this.#turn.then(() => this.#replace(wanted));
    this.#turn = change.catch(() => undefined);
    const { listeners, unused } = await change;
    await this.#close(unused);
    return [...wanted.keys()].flatMap((key) => boundAddress(listeners.get(key)));
  }

  get isListening(): boolean {
    return this.#listeners.size > 0;
  }

  /** Once it is not `unneeded`, what is for https must not be served without TLS. */
  get tls(): TlsListening {
    return this.#tls;
  }

  /** Number of connections that clients have. */
  connections(): number {
    const listeners = [...this.#listeners.values(), ...this.#closing];
    return listeners.reduce((sum, listener) => sum + listener.connections(), 0);
  }

  /** Makes every response from now on the last of its connection, and still accepts connections. */
  announceClose(): void {
    for (const listener of this.#listeners.values()) listener.announceClose();
  }

  /**
   * Accepts no more connections, lets current requests finish for at most `drainMs`, then calls `onTimeout`
   * and closes the remaining connections. One that is idle for `idleMs` is closed earlier.
   */
  async close(drainMs?: number, onTimeout?: () => void, idleMs?: number): Promise<void> {
    await this.#turn;
    const listeners = [...this.#listeners.values()];
    this.#listeners = new Map();
    await this.#close(listeners, drainMs, onTimeout, idleMs);
  }

  /** Opens what is missing. Resolves with the new set, and with the listeners that left it. */
  async #replace(wanted: ReadonlyMap<string, ListenAddress>): Promise<Replacement> {
    const needsTls = [...wanted.values()].some(isForTls);
    if (needsTls && this.#tls === 'unneeded') this.#tls = 'missing';
    const before = this.#listeners;
    const missing = [...wanted].filter(([key]) => !before.has(key));
    const opened = await Promise.allSettled(
      missing.map(async ([key, address]) => {
        return [key, await createListener(address, this.#handlers)] as const;
      }),
    );
    const fresh = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failure = opened.find((result) => result.status === 'rejected');
    if (failure !== undefined) {
      await Promise.all(fresh.map(([, listener]) => listener.close(0)));
      throw failure.reason;
    }
    const kept = [...before].filter(([key]) => wanted.has(key));
    const unused = [...before].filter(([key]) => !wanted.has(key));
    const listeners = new Map([...kept, ...fresh]);
    this.#listeners = listeners;
    if (needsTls) this.#tls = 'open';
    return { listeners, unused: unused.map(([, listener]) => listener) };
  }

  async #close(
    listeners: readonly Listener[],
    ...drain: Parameters<Listener['close']>
  ): Promise<void> {
    this.#closing = [...this.#closing, ...listeners];
    await Promise.all(listeners.map((listener) => listener.close(...drain)));
    this.#closing = this.#closing.filter((listener) => !listeners.includes(listener));
  }
}

/** The listeners after a change of the set, and those to close. */
interface Replacement {
  readonly listeners: ReadonlyMap<string, Listener>;
  readonly unused: readonly Listener[];
}

function isForTls({ isTls = false }: ListenAddress): boolean {
  return isTls;
}

function keyOf({ host, port, isTls = false }: ListenAddress): string {
  return `${host} ${String(port)} ${isTls ? 'TLS' : ''}`;
}

function boundAddress(listener: Listener | undefined): readonly ListenAddress[] {
  if (listener === undefined) return [];
  const { host, port, isTls } = listener;
  return [isTls ? { host, port, isTls } : { host, port }];
}
