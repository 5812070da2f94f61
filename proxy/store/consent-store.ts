import type { ConsentKey } from '../records/consent-key.ts';

/** Consents that users gave. */
export interface ConsentStore {
  /** `metadataHash` identifies the client metadata that the user saw. */
  remember(key: ConsentKey, metadataHash: string, ttlSeconds: number): Promise<void>;
  /** Returns whether the user consented, with the same client metadata. */
  isRemembered(key: ConsentKey, metadataHash: string): Promise<boolean>;
  /** The user is asked again. */
  forget(key: ConsentKey): Promise<void>;
}
