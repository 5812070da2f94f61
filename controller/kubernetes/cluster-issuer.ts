import type { CompiledPublicKey } from '../../shared/snapshot/snapshot.ts';

/** Who issues the tokens of the ServiceAccounts of a cluster, and what verifies them. */
export interface ClusterIssuer {
  /** `iss` of the tokens. */
  readonly issuer: string;
  readonly keys: readonly CompiledPublicKey[];
  /** Audiences that the API server itself is known to have. */
  readonly apiAudiences: readonly string[];
}

/** What is known of the issuer of a cluster. */
export interface ClusterIssuerReading {
  /** The last one that was read; absent before the first. */
  readonly known?: ClusterIssuer;
  /** Why it cannot be read now; absent if it can. */
  readonly failure?: string;
}
