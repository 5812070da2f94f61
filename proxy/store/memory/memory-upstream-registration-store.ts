import type {
  UpstreamRegistration,
  UpstreamRegistrationKey,
} from '../../records/upstream-registration.ts';
import type { UpstreamRegistrationStore } from '../upstream-registration-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';

/** Operators allow the authorization servers, so there are few. */
const MAX_REGISTRATIONS = 10_000;

/** Registrations of one process. */
export class MemoryUpstreamRegistrationStore implements UpstreamRegistrationStore {
  readonly #registrations: ExpiringMap<UpstreamRegistration>;

  constructor(now: Now) {
    this.#registrations = new ExpiringMap(now, MAX_REGISTRATIONS);
  }

  get(key: UpstreamRegistrationKey): Promise<UpstreamRegistration | null> {
    return Promise.resolve(this.#registrations.get(keyOf(key)));
  }

  save(
    key: UpstreamRegistrationKey,
    registration: UpstreamRegistration,
    ttlSeconds: number,
  ): Promise<UpstreamRegistration> {
    const first = this.#registrations.get(keyOf(key));
    if (first !== null) return Promise.resolve(first);
    this.#registrations.set(keyOf(key), registration, ttlSeconds);
    return Promise.resolve(registration);
  }

  extend(key: UpstreamRegistrationKey, ttlSeconds: number): Promise<void> {
    this.#registrations.extend(keyOf(key), ttlSeconds);
    return Promise.resolve();
  }

  delete(key: UpstreamRegistrationKey, clientId: string): Promise<void> {
    const isSame = this.#registrations.get(keyOf(key))?.clientId === clientId;
    if (isSame) this.#registrations.delete(keyOf(key));
    return Promise.resolve();
  }
}

function keyOf({ issuer, redirectUri }: UpstreamRegistrationKey): string {
  return JSON.stringify([issuer, redirectUri]);
}
