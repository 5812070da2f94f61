import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';

import { isRecord } from '../../shared/runtime/is-record.ts';
import { asError } from '../errors/as-error.ts';
import { usableKeys } from './usable-keys.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** A key that the provider withdrew stops counting after this time. */
const FRESH_MS = 10 * MINUTE;

/** The same while the provider is unavailable. */
const MAX_AGE_MS = 60 * MINUTE;

/** Attack: each token with an invented key id would make the gateway fetch the keys. */
const UNKNOWN_KEY_REST_MS = 30 * SECOND;

/** How long a provider is left alone after a failure. */
const FAILURE_REST_MS = 2 * SECOND;

/** Known keys are used without waiting for a provider that failed within this time. */
const DOWN_MS = 30 * SECOND;

/** Attack: tokens with invented key ids would wait for a slow provider in any number. */
const MAX_WAITING = 256;

/** Options of a `RotatingKeySet`. */
export interface RotatingKeySetOptions {
  /** Fetches the JWK Set (RFC 7517, section 5), parsed. */
  readonly fetch: () => Promise<unknown>;
  readonly now: () => number;
}

interface FetchedKeys {
  readonly keyOf: JWTVerifyGetKey;
  readonly fetchedAt: number;
}

/**
 * The public keys of one provider.
 *
 * They are fetched when first needed, when they are 10 minutes old, and when a token names an unknown key, for
 * which they are fetched again at most every 30 seconds. Concurrent callers share one fetch. If it fails, known
 * keys count until they are an hour old, and their users do not wait for the next fetch.
 */
export class RotatingKeySet {
  readonly #fetch: RotatingKeySetOptions['fetch'];
  readonly #now: () => number;
  #keys: FetchedKeys | undefined;
  #pending: Promise<void> | undefined;
  #failure: { readonly error: Error; readonly failedAt: number } | undefined;
  #unknownKeysRestUntil = -Infinity;
  /** The number of callers that wait for a fetch. */
  #waiting = 0;

  constructor({ fetch, now }: RotatingKeySetOptions) {
    this.#fetch = fetch;
    this.#now = now;
  }

  /**
   * Returns the key that a token's header names. Rejects with a `JWKSNoMatchingKey` or
   * `JWKSMultipleMatchingKeys` error of `jose`, or with the error of the fetch if the keys are not known.
   */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#current();
    try {
      return await keys.keyOf(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    const later = await this.#afterUnknownKey();
    return later.keyOf(header, token);
  };

  /** Returns until when a token that was verified now counts as verified: its key may be withdrawn. */
  countsUntil(): number {
    const { fetchedAt = -Infinity } = this.#keys ?? {};
    const { failedAt = -Infinity } = this.#failure ?? {};
    return Math.max(fetchedAt + FRESH_MS, failedAt + FAILURE_REST_MS);
  }

  async #current(): Promise<FetchedKeys> {
    if (
      this.#pending === undefined &&
      this.#isOlderThan(FRESH_MS) &&
      !this.#failedWithin(FAILURE_REST_MS)
    ) {
      this.#refresh();
    }
    const acceptableAge = this.#failedWithin(DOWN_MS) ? MAX_AGE_MS : FRESH_MS;
    if (this.#isOlderThan(acceptableAge)) await this.#wait();
    return this.#known();
  }

  async #afterUnknownKey(): Promise<FetchedKeys> {
    const mayFetch =
      this.#unknownKeysRestUntil <= this.#now() && !this.#failedWithin(FAILURE_REST_MS);
    if (this.#pending === undefined && mayFetch) {
      this.#unknownKeysRestUntil = this.#now() + UNKNOWN_KEY_REST_MS;
      this.#refresh();
    }
    await this.#wait();
    // Perhaps the provider has the key by now: nobody can say that the token is bad.
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#known();
  }

  /** Waits for the fetch that is under way, if there is one. */
  async #wait(): Promise<void> {
    if (this.#pending === undefined) return;
    if (this.#waiting >= MAX_WAITING) throw new Error('too many tokens wait for the keys');
    this.#waiting += 1;
    await this.#pending;
    this.#waiting -= 1;
  }

  #known(): FetchedKeys {
    if (this.#keys !== undefined && !this.#isOlderThan(MAX_AGE_MS)) return this.#keys;
    throw this.#failure?.error ?? new Error('the keys are not known');
  }

  #isOlderThan(age: number): boolean {
    return this.#keys === undefined || this.#keys.fetchedAt + age <= this.#now();
  }

  #failedWithin(time: number): boolean {
    return this.#failure !== undefined && this.#failure.failedAt + time > this.#now();
  }

  #refresh(): void {
    this.#pending = this.#load().finally(() => {
      this.#pending = undefined;
    });
  }

  /** Never rejects. */
  async #load(): Promise<void> {
    try {
      const keyOf = readKeySet(await this.#fetch());
      this.#keys = { keyOf, fetchedAt: this.#now() };
      this.#failure = undefined;
    } catch (error) {
      this.#failure = { error: asError(error), failedAt: this.#now() };
      this.#unknownKeysRestUntil = -Infinity;
    }
  }
}

function readKeySet(body: unknown): JWTVerifyGetKey {
  const keys = isRecord(body) ? body['keys'] : undefined;
  if (!Array.isArray(keys)) throw new Error('the response is not a JWK Set');
  return createLocalJWKSet({ keys: usableKeys(keys) });
}
