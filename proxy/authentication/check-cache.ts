import type { Revocation, Revocations } from '../store/revocations.ts';
import { StoreUnavailableError } from '../store/store-unavailable-error.ts';
import { BoundedMap } from '../cache/bounded-map.ts';

/** How long a check counts by itself: what a revocation that was not heard of can cost. */
const FRESH_MS = 5000;

/** How often the stores are asked about one entry while they are away. */
const RETRY_MS = 1000;

/** How often a check is made that missed revocations overtook. */
const MAX_ATTEMPTS = 2;

/** What the stores say of a key; null when nothing stands for it. */
export type Check<Value> = () => Promise<Value | null>;

/** A revocation of something that has a name. */
export type KnownRevocation = Exclude<Revocation, { readonly kind: 'missed' }>;

export interface CheckCacheOptions<Value> {
  readonly revocations: Pick<Revocations, 'subscribe'>;
  readonly maxEntries: number;
  /** Whether a revocation ends a value. */
  readonly standsOn: (value: Value, revocation: KnownRevocation) => boolean;
  /** When a value ends by itself, in milliseconds since the epoch. */
  readonly expiryOf: (value: Value) => number;
  /** How long the last good check counts while the stores are away; 0: no longer than otherwise. */
  readonly outageGraceSeconds: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface Entry<Value> {
  readonly value: Value;
  /** When the check began. */
  readonly checkedAt: number;
  /** When the stores are asked again; absent unless they were away the last time. */
  retryAt?: number;
}

interface CheckUnderWay<Value> {
  readonly result: Promise<Value | null>;
  /** The answer of the stores may be from before these. */
  readonly heard: Revocation[];
}

/**
 * What the stores said within the last seconds, by secret keys.
 *
 * A revocation that is heard of ends an entry at once. While the stores are away, entries go on for
 * a grace, and nobody waits: one request in a second has the stores asked again.
 */
export class CheckCache<Value> implements Disposable {
  readonly #options: CheckCacheOptions<Value>;
  readonly #entries: BoundedMap<string, Entry<Value>>;
  /** Requests with one key share a check. */
  readonly #underWay = new Map<string, CheckUnderWay<Value>>();
  /** Until then the stores are taken to be away: one check has just failed. */
  #awayUntil = 0;
  readonly #unsubscribe: () => void;

  constructor(options: CheckCacheOptions<Value>) {
    this.#options = options;
    this.#entries = new BoundedMap(options.maxEntries);
    this.#unsubscribe = options.revocations.subscribe((revocation) => {
      this.#hear(revocation);
    });
  }

  /** What stood for the key at its last check, however long ago; undefined when that is not known. */
  lastKnown(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** What stands for the key. Without a promise while that is known. */
  get(key: string, check: Check<Value>): Value | null | Promise<Value | null> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return this.#checkOnce(key, check);
    const now = this.#options.now();
    if (this.#counts(entry, FRESH_MS, now)) return entry.value;
    if (!this.#isAway(entry, now) || !this.#isWithinGrace(entry, now)) {
      return this.#checkOnce(key, check);
    }
    if (now >= (entry.retryAt ?? 0)) {
      // Whatever comes of it is kept in the entry, or ends it: the next request hears of it.
      this.#checkOnce(key, check).catch(() => undefined);
    }
    return entry.value;
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }

  #checkOnce(key: string, check: Check<Value>): Promise<Value | null> {
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay.result;
    const heard: Revocation[] = [];
    const result = this.#check(key, check, heard).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, { result, heard });
    return result;
  }

  async #check(key: string, check: Check<Value>, heard: Revocation[]): Promise<Value | null> {
    try {
      const entry = await this.#ask(check, heard);
      this.#awayUntil = 0;
      if (entry === null) this.#entries.delete(key);
      else this.#entries.set(key, entry);
      return entry?.value ?? null;
    } catch (error) {
      return this.#lastGood(key, error);
    }
  }

  async #ask(check: Check<Value>, heard: Revocation[]): Promise<Entry<Value> | null> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      heard.length = 0;
      const checkedAt = this.#options.now();
      const value = await check();
      if (value === null || heard.some((revocation) => this.#ends(value, revocation))) return null;
      if (!heard.some(isMissed)) return { value, checkedAt };
    }
    throw new StoreUnavailableError('revocations were missed while the stores were asked');
  }

  /** The last good check, when all that is wrong is that the stores are away. */
  #lastGood(key: string, error: unknown): Value {
    const entry = this.#entries.get(key);
    const now = this.#options.now();
    const isAway = error instanceof StoreUnavailableError;
    if (isAway) this.#awayUntil = now + RETRY_MS;
    if (entry !== undefined && isAway && this.#isWithinGrace(entry, now)) {
      entry.retryAt = now + RETRY_MS;
      return entry.value;
    }
    this.#entries.delete(key);
    throw error;
  }

  /** A failure of long ago says nothing about now, and the answer is waited for. */
  #isAway({ retryAt }: Entry<Value>, now: number): boolean {
    return now < this.#awayUntil || (retryAt !== undefined && now < retryAt + FRESH_MS);
  }

  #isWithinGrace(entry: Entry<Value>, now: number): boolean {
    return this.#counts(entry, this.#options.outageGraceSeconds() * 1000, now);
  }

  #counts({ value, checkedAt }: Entry<Value>, lifetimeMs: number, now: number): boolean {
    // A clock that was set back must not make a check count for longer.
    if (now < checkedAt) return false;
    return now - checkedAt < lifetimeMs && now < this.#options.expiryOf(value);
  }

  #hear(revocation: Revocation): void {
    for (const { heard } of this.#underWay.values()) heard.push(revocation);
    this.#entries.deleteWhere(({ value }) => isMissed(revocation) || this.#ends(value, revocation));
  }

  #ends(value: Value, revocation: Revocation): boolean {
    return revocation.kind !== 'missed' && this.#options.standsOn(value, revocation);
  }
}

function isMissed({ kind }: Revocation): boolean {
  return kind === 'missed';
}
