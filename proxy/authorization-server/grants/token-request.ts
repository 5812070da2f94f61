import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import type { IdentityProviders } from '../../configuration/identity-providers.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import type { SessionOfSignIn } from '../../identity/session/live-sessions.ts';
import type { Stores } from '../../store/stores.ts';
import type { Client } from '../../records/client.ts';
import type { ExternalTokens } from '../../authentication/external-tokens.ts';
import type { Issuer } from '../resources.ts';
import type { AuditLog } from '../../telemetry/audit-log.ts';
import type { InternalTokens } from '../../upstream-oauth/internal-tokens/internal-tokens.ts';
import type { RefreshTokens } from './refresh-tokens.ts';

/** A token request of an authenticated client. */
export interface TokenRequest {
  readonly issuer: Issuer;
  readonly settings: CompiledSettings;
  readonly identityProviders: IdentityProviders;
  readonly client: Client;
  readonly parameters: URLSearchParams;
  readonly context: Pick<EndpointContext, 'request' | 'configuration'>;
}

/** Options of a grant type. */
export interface GrantOptions {
  readonly stores: Stores;
  readonly externalTokens: ExternalTokens;
  readonly refreshTokens: RefreshTokens;
  readonly sessionOf: SessionOfSignIn;
  readonly internalTokens: Pick<InternalTokens, 'isConnected'>;
  readonly audit: AuditLog;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** One `grant_type`: returns the token response or throws an `OAuthError`. */
export type GrantType = (options: GrantOptions, request: TokenRequest) => Promise<GatewayResponse>;
