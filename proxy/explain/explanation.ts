import type { GatewayRoute, HostRoutes } from '../configuration/routing-table.ts';
import type { Decision, PolicyExplanation } from '../policy/decision.ts';
import type { Identity } from '../records/session.ts';

/** What the gateway does with a request. */
export type RequestOutcome =
  /** It permits the request to reach the upstream. */
  | { readonly kind: 'allow' }
  /** It refuses the request. */
  | ({ readonly kind: 'deny' } & Refusal)
  /** It cannot decide, for example while an identity provider is down. */
  | ({ readonly kind: 'failure' } & Refusal)
  /**
   * It answers by itself, whoever asks: at its own endpoints, of which the status is not known, and to a
   * CORS preflight of an MCP route.
   */
  | { readonly kind: 'answer'; readonly status?: number };

/** Why a request does not reach its upstream. */
export interface Refusal {
  /** Status of the answer; 200 for the call of a tool that is denied with a JSON-RPC error. */
  readonly status: number;
  /** As in the log, such as `domain-unauthorized`. */
  readonly reason: string;
  /** For the operator; never with a secret. */
  readonly message: string;
  /** `WWW-Authenticate` of the answer. */
  readonly challenge?: string;
}

/** The route of a request, and its host. */
export interface MatchedRoute {
  readonly host: HostRoutes;
  readonly route: GatewayRoute;
}

/** A request that the policy has decided about. */
export interface CheckedRequest {
  readonly identity: Identity | undefined;
  readonly decision: Decision;
  /** Absent on public routes. */
  readonly policy?: PolicyExplanation;
}

/** What the gateway does with a request, and why. */
export interface Explanation {
  readonly outcome: RequestOutcome;
  /** Absent if no route was found for the request. */
  readonly matched?: MatchedRoute;
  /** Absent if the request was refused or answered before the policy could decide. */
  readonly checked?: CheckedRequest;
  /** Every line that the gateway writes to its log, with the record of the authorization log. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
}
