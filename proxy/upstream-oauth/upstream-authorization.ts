import type { AuthorizationServer } from 'oauth4webapi';

import type { UpstreamFetch } from './calls/upstream-calls.ts';
import type { UpstreamAuthOutcome } from './upstream-auth-reports.ts';
import type { UpstreamClient } from './registration/upstream-client.ts';

/** The authorization server of an upstream, and the gateway as its client: what token requests need. */
export interface UpstreamServer {
  /** Its metadata, or made of the given endpoints. */
  readonly server: AuthorizationServer;
  /** Its issuer; with given endpoints, the URL of the token endpoint. */
  readonly issuer: string;
  /** Whether an operator gave the endpoints: then nothing was discovered. */
  readonly isGiven: boolean;
  readonly client: UpstreamClient;
  /**
   * Sends requests to the endpoints of this server only, guarded and logged. Rejects with an
   * `OutboundRefusedError` or an `OutboundFailedError`.
   */
  readonly fetch: UpstreamFetch;
  /** Reports whether token requests of this client work, for whichever user. */
  readonly report: (outcome: UpstreamAuthOutcome) => void;
}

/** Everything that a user's connection to an upstream needs. */
export interface UpstreamAuthorization extends UpstreamServer {
  /** Value of `resource` (RFC 8707), where the route sends it. */
  readonly resource: string;
  /** The scopes to ask for; empty: no `scope` is sent. */
  readonly scopes: readonly string[];
}
