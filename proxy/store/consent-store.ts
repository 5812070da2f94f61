/** What a user agreed to. Another value in any member is another consent. */
export interface ConsentKey {
  readonly provider: string;
  readonly subject: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}

/** Consents that need not be asked for again. */
export interface ConsentStore {
  /** `metadataHash` names the client's metadata as the user saw them. */
  remember(key: ConsentKey, metadataHash: string, ttlSeconds: number): Promise<void>;
  /** True when remembered for the very same metadata. */
  isRemembered(key: ConsentKey, metadataHash: string): Promise<boolean>;
}
