import type { BearerTokenFormat } from '../../shared/snapshot/snapshot.ts';
import type { ProblemReason } from '../validate/problem.ts';
import type { Address } from './address.ts';
import type { HostRule } from './host-rules.ts';
import type { ProviderFacts } from './identity-providers/bearer-token-format.ts';

/** Everything besides the route that a compiled route depends on. */
export interface RouteContext {
  readonly devAllowLoopback: boolean;
  /** The dedicated sign-in host. */
  readonly authenticateAddress: Address | undefined;
  readonly signIn: SignInAvailability;
  readonly identityProviders: readonly ProviderFacts[];
  /** For routes that name no format. */
  readonly bearerTokenFormat: BearerTokenFormat;
  /** Whether the settings list allowed audiences. */
  readonly hasAllowedAudiences: boolean;
  /** The name of the settings if they do not exist, so that no route may serve. */
  readonly missingSettings: string | undefined;
  /** Namespaces that may have routes with `mcp.client`. */
  readonly mcpClientNamespaces: readonly string[];
  readonly hostRules: readonly HostRule[];
  /** Domains that discovery for upstreams may ask. */
  readonly asMetadataDomains: readonly string[];
  /** Whether routes can refer to Services. */
  readonly hasServices: boolean;
}

/** Whether users can sign in on routes that name no provider. */
export type SignInAvailability =
  | { readonly kind: 'available' }
  | { readonly kind: 'unavailable'; readonly reason: ProblemReason; readonly message: string };
