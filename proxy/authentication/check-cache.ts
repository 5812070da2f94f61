import type { Revocation, Revocations } from '../store/revocations.ts';
import { StoreUnavailableError } from '../store/store-unavailable-error.ts';
import { BoundedMap } from '../cache/bounded-map.ts';
import { numberOfSecret } from './number-of-secret.ts';

/** How long a check stays valid: the longest that a missed revocation can go unnoticed. */
const FRESH_MS = 5000;

/** How often the stores are asked about one entry while they are unavailable. */
const RETRY_MS = 1000;

/** How many times a check is attempted if revocations are missed or the value changes during it. */
const MAX_ATTEMPTS = 2;

/** Asks the stores for the value of a key; null if it has none. */
export type Check<Value> = () => Promise<Value | null>;

/** A revocation that names what was revoked, of what says who the caller is. */
export type KnownRevocation = Exclude<Revocation, { readonly kind: 'missed' | 'internal-token' }>;

/** Options of a `CheckCache`. */
export interface CheckCacheOptions<Value> {
  readonly revocations: Pick<Revocations, 'subscribe'>;
  readonly maxEntries: number;
  /** Returns whether a revocation ends a value. */
  readonly dependsOn: (value: Value, revocation: KnownRevocation) => boolean;
  /** Returns whether a value still counts under the configuration that is served now. */
  readonly isCurrent: (value: Value) => boolean;
  /** Returns when a value expires, in milliseconds since the epoch. */
  readonly expiryOf: (value: Value) => number;
  /** How long the last good check stays valid while the stores are unavailable; 0 for not at all. */
  readonly outageGraceSeconds: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The last good check of a key. */
export interface LastCheck<Value> {
  readonly key: string;
  readonly value: Value;
  /** When the check began. */
  readonly checkedAt: number;
  /** When the stores are asked again; absent unless they were unavailable the last time. */
  retryAt?: number;
}

interface CheckUnderWay<Value> {
  readonly result: Promise<Value | null>;
  /** Revocations received during the check: its result may be older. */
  readonly received: Revocation[];
}

/**
 * Caches for some seconds what the stores returned, by secret keys.
 *
 * A revocation removes an entry as soon as it is received, and the change of an internal token the entry with
 * its id as key. While the stores are unavailable, entries
 * stay valid for a grace period and no request waits: one request per second asks the stores again.
 */
export class CheckCache<Value> implements Disposable {
  readonly #options: CheckCacheOptions<Value>;
  /** By the number of the key: of two keys with one number, the one that was checked last has an entry. */
  readonly #entries: BoundedMap<number, LastCheck<Value>>;
  /** Requests with one key share a check. */
  readonly #underWay = new Map<string, CheckUnderWay<Value>>();
  /** The stores count as unavailable until this time, because a check has just failed. */
  #awayUntil = 0;
  readonly #unsubscribe: () => void;

  constructor(options: CheckCacheOptions<Value>) {
    this.#options = options;
    this.#entries = new BoundedMap(options.maxEntries);
    this.#unsubscribe = options.revocations.subscribe((revocation) => {
      this.#receive(revocation);
    });
  }

  /** Returns the last check of a key, however old; undefined if it is not cached. */
  find(key: string): LastCheck<Value> | undefined {
    const last = this.#entries.get(numberOfSecret(key));
    return last?.key === key ? last : undefined;
  }

  /** Returns the value of the key; without a promise while it is cached. */
  get(key: string, check: Check<Value>): Value | null | Promise<Value | null> {
    return this.getAfter(this.find(key), key, check, this.#options.now());
  }

  /** Does the same for a key whose last check was just looked up. */
  getAfter(
    last: LastCheck<Value> | undefined,
    key: string,
    check: Check<Value>,
    now: number,
  ): Value | null | Promise<Value | null> {
    if (last === undefined) return this.#checkOnce(key, check);
    if (this.#isValid(last, FRESH_MS, now)) return last.value;
    if (!this.#isAway(last, now) || !this.#isWithinGrace(last, now)) {
      return this.#checkOnce(key, check);
    }
    if (now >= (last.retryAt ?? 0)) {
      // Its result updates or removes the entry, so the next request sees it.
      this.#checkOnce(key, check).catch(() => undefined);
    }
    return last.value;
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }

  #checkOnce(key: string, check: Check<Value>): Promise<Value | null> {
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay.result;
    const { promise: result, resolve } = Promise.withResolvers<Value | null>();
    const received: Revocation[] = [];
    // Set before the stores are asked, so that it receives every revocation from now on.
    this.#underWay.set(key, { result, received });
    resolve(this.#check(key, check, received));
    return result;
  }

  /**
   * Everything after the stores' response is one step. Attack: a revocation received between the look at
   * `received` and the new entry would remove nothing, and one received before the check has ended would
   * not keep the next request from sharing its result.
   */
  async #check(key: string, check: Check<Value>, received: Revocation[]): Promise<Value | null> {
    try {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        received.length = 0;
        const checkedAt = this.#options.now();
        const value = await check();
        if (value === null || this.#isOver(value, received)) return this.#keep(key, null);
        if (!received.some(leavesOpen)) return this.#keep(key, { key, value, checkedAt });
      }
      throw new StoreUnavailableError('values changed or revocations were missed meanwhile');
    } catch (error) {
      return this.#lastGood(key, error);
    } finally {
      this.#underWay.delete(key);
    }
  }

  #keep(key: string, entry: LastCheck<Value> | null): Value | null {
    this.#awayUntil = 0;
    if (entry === null) this.#remove(key);
    else this.#entries.set(numberOfSecret(key), entry);
    return entry?.value ?? null;
  }

  /** Returns the last good value if the only problem is that the stores are unavailable. */
  #lastGood(key: string, error: unknown): Value {
    const entry = this.find(key);
    const now = this.#options.now();
    const isAway = error instanceof StoreUnavailableError;
    if (isAway) this.#awayUntil = now + RETRY_MS;
    if (entry !== undefined && isAway && this.#isWithinGrace(entry, now)) {
      entry.retryAt = now + RETRY_MS;
      return entry.value;
    }
    this.#remove(key);
    throw error;
  }

  #remove(key: string): void {
    if (this.find(key) !== undefined) this.#entries.delete(numberOfSecret(key));
  }

  /** Returns whether the stores failed recently. After an older failure the request waits for them. */
  #isAway({ retryAt }: LastCheck<Value>, now: number): boolean {
    return now < this.#awayUntil || (retryAt !== undefined && now < retryAt + FRESH_MS);
  }

  #isWithinGrace(entry: LastCheck<Value>, now: number): boolean {
    return this.#isValid(entry, this.#options.outageGraceSeconds() * 1000, now);
  }

  #isValid({ value, checkedAt }: LastCheck<Value>, lifetimeMs: number, now: number): boolean {
    // A clock that was set back must not extend the life of a check.
    if (now < checkedAt) return false;
    if (now - checkedAt >= lifetimeMs || now >= this.#options.expiryOf(value)) return false;
    return this.#options.isCurrent(value);
  }

  #receive(revocation: Revocation): void {
    if (revocation.kind === 'internal-token') {
      this.#forget(revocation.keyHash, revocation);
      return;
    }
    for (const { received } of this.#underWay.values()) received.push(revocation);
    this.#entries.deleteWhere(({ value }) => isMissed(revocation) || this.#ends(value, revocation));
  }

  /** Has one key asked again. Such changes are many, so they do not look at all entries. */
  #forget(key: string, change: Revocation): void {
    this.#underWay.get(key)?.received.push(change);
    this.#remove(key);
  }

  #isOver(value: Value, received: readonly Revocation[]): boolean {
    if (!this.#options.isCurrent(value)) return true;
    return received.some((revocation) => this.#ends(value, revocation));
  }

  #ends(value: Value, revocation: Revocation): boolean {
    if (revocation.kind === 'missed' || revocation.kind === 'internal-token') return false;
    return this.#options.dependsOn(value, revocation);
  }
}

function isMissed({ kind }: Revocation): boolean {
  return kind === 'missed';
}

/** Returns whether a value that was read before is perhaps not the newest one. */
function leavesOpen({ kind }: Revocation): boolean {
  return kind === 'missed' || kind === 'internal-token';
}
