import type { ConnectionNeed } from '../records/connection-need.ts';
import type { InternalTokenKey } from '../records/internal-token.ts';

/** Who must connect again, and for what. */
export interface ConnectionNeedStore {
  get(key: InternalTokenKey): Promise<ConnectionNeed | null>;
  put(key: InternalTokenKey, need: ConnectionNeed, ttlSeconds: number): Promise<void>;
  delete(key: InternalTokenKey): Promise<void>;
  /**
   * Atomic: returns true for exactly one of any number of calls with one key within `windowSeconds`. So a user
   * is not asked for more scopes again and again.
   */
  claimStepUp(key: InternalTokenKey, windowSeconds: number): Promise<boolean>;
}
