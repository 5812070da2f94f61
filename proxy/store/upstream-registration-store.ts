import type {
  UpstreamRegistration,
  UpstreamRegistrationKey,
} from '../records/upstream-registration.ts';

/** Registrations of the gateway at authorization servers of upstreams. */
export interface UpstreamRegistrationStore {
  /** Null if unknown or expired. */
  get(key: UpstreamRegistrationKey): Promise<UpstreamRegistration | null>;
  /**
   * Keeps a registration, unless there is one. Returns the one that is kept. Atomic: of any number of
   * concurrent calls with one key, all get the same one.
   */
  save(
    key: UpstreamRegistrationKey,
    registration: UpstreamRegistration,
    ttlSeconds: number,
  ): Promise<UpstreamRegistration>;
  /** Extends the lifetime to at least `ttlSeconds` from now. */
  extend(key: UpstreamRegistrationKey, ttlSeconds: number): Promise<void>;
  /** Forgets the registration if it is still the one of this client. */
  delete(key: UpstreamRegistrationKey, clientId: string): Promise<void>;
}
