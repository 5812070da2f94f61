import type { UpstreamAuthMethod } from '../../records/upstream-registration.ts';

/** The gateway as a client of an authorization server. */
export interface UpstreamClient {
  readonly id: string;
  readonly secret?: string;
  readonly authMethod: UpstreamAuthMethod;
  /** `given` by an operator, or by a metadata document of the gateway, or registered dynamically. */
  readonly source: 'given' | 'metadata-document' | 'registered';
  /** Of a registration; milliseconds since the epoch. */
  readonly registeredAt?: number;
}
