import type { ProblemReason } from '../validate/problem.ts';
import type { Address } from './address.ts';
import type { HostRule } from './host-rules.ts';

/** Everything besides the route that a compiled route depends on. */
export interface RouteContext {
  readonly devAllowLoopback: boolean;
  /** The dedicated sign-in host. */
  readonly authenticateAddress: Address | undefined;
  readonly signIn: SignInAvailability;
  /** The name of the settings if they do not exist, so that no route may serve. */
  readonly missingSettings: string | undefined;
  readonly hostRules: readonly HostRule[];
  /** Whether routes can refer to Services. */
  readonly hasServices: boolean;
}

/** Whether users can sign in. Every route that is not public needs this. */
export type SignInAvailability =
  | { readonly kind: 'available' }
  | { readonly kind: 'unavailable'; readonly reason: ProblemReason; readonly message: string };
