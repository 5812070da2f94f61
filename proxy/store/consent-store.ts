import type { ConsentKey } from '../records/consent-key.ts';

/** Consents that need not be asked for again. */
export interface ConsentStore {
  /** `metadataHash` names the client's metadata as the user saw them. */
  remember(key: ConsentKey, metadataHash: string, ttlSeconds: number): Promise<void>;
  /** True when remembered for the very same metadata. */
  isRemembered(key: ConsentKey, metadataHash: string): Promise<boolean>;
}
