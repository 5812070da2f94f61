import type { Configuration } from '../configuration/configuration.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Caller, CredentialKind } from './caller.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/** The host that received a request, and the configuration that serves it. */
export interface AuthenticationContext {
  readonly origin: Origin;
  readonly configuration: Pick<Configuration, 'settings' | 'identityProviders'>;
}

/** Authenticates requests by one kind of credential. */
export interface Authenticator {
  /**
   * Returns the caller that the request's credential identifies; without a promise while the cache
   * is warm. Throws or rejects with a `GatewayError` when the credential is missing or not valid for
   * this route.
   */
  authenticate(
    request: GatewayRequest,
    route: GatewayRoute,
    context: AuthenticationContext,
  ): Caller | Promise<Caller>;
}

/** One authenticator per kind of credential. */
export type Authenticators = Readonly<Record<CredentialKind, Authenticator>>;
