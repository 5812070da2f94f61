import type { ProblemReason } from '../validate/problem.ts';
import type { Address } from './address.ts';

/** What a route depends on besides itself. Equal contexts compile a route equally. */
export interface RouteContext {
  readonly devAllowLoopback: boolean;
  /** The dedicated sign-in host. */
  readonly authenticateAddress: Address | undefined;
  readonly signIn: SignInAvailability;
  /** What would say which routes may serve and is not there, so that none does; undefined: it is. */
  readonly missingSettings: string | undefined;
  /** Whether routes can refer to Services. */
  readonly hasServices: boolean;
}

/** Whether users can sign in, which every route that is not public needs. */
export type SignInAvailability =
  | { readonly kind: 'available' }
  | { readonly kind: 'unavailable'; readonly reason: ProblemReason; readonly message: string };
