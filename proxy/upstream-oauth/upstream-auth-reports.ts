import type { UpstreamAuthReason } from '../errors/upstream-auth-error.ts';

/** Whether users can connect to the upstream of a route. */
export type UpstreamAuthOutcome =
  | { readonly kind: 'success' }
  | {
      readonly kind: 'failure';
      readonly reason: UpstreamAuthReason;
      /** For operators; without secrets. */
      readonly message: string;
    };

/**
 * Receives whether users can connect to the upstream of a route, as discovery, registration and token requests show
 * it. What concerns one user alone, such as a refusal or an expired connection, is not reported.
 */
export interface UpstreamAuthReports {
  /** `routeName` is the `namespace/name` of the Route. */
  report(routeName: string, outcome: UpstreamAuthOutcome): void;
}
