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
 * Receives what became of discovery and registration for a route. One user's refusal or expired login never is
 * an outcome.
 */
export interface UpstreamAuthReports {
  /** `routeName` is the `namespace/name` of the Route. */
  report(routeName: string, outcome: UpstreamAuthOutcome): void;
}
