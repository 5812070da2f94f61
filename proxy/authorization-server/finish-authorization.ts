import type { FinishAuthorization } from '../connect/connect-endpoint-options.ts';
import type { ConnectError } from '../errors/connection-errors.ts';
import { UnknownClientError } from '../errors/authorization-page-errors.ts';
import {
  AccessDeniedError,
  ServerError,
  TemporarilyUnavailableError,
  type OAuthError,
} from '../errors/oauth-errors.ts';
import { seeOther } from '../http/responses.ts';
import type { Stores } from '../store/stores.ts';
import type { AuditLog } from '../telemetry/audit-log.ts';
import { errorRedirect } from './authorization-response.ts';
import type { FindClient } from './clients/find-client.ts';
import { matchesRedirectUri } from './clients/redirect-uri.ts';
import { issueCode } from './issue-code.ts';

/** Options of `createFinishAuthorization`. */
export interface FinishAuthorizationOptions {
  readonly stores: Pick<Stores, 'authorizationCodes'>;
  readonly findClient: FindClient;
  readonly audit: AuditLog;
}

/**
 * Makes the function that answers a request whose user was sent to connect the server first: with a code, or
 * with an OAuth error that says why there is no connection.
 */
export function createFinishAuthorization(
  options: FinishAuthorizationOptions,
): FinishAuthorization {
  return async (pending, result, session, context) => {
    const { settings } = context.configuration;
    const client = await options.findClient(pending.issuer, pending.clientId, settings);
    // Checked again: the client may have changed its metadata while the user connected.
    if (!(client && matchesRedirectUri(pending.redirectUri, client.metadata.redirectUris))) {
      throw new UnknownClientError();
    }
    if (result.kind === 'failed') {
      return seeOther(errorRedirect(pending, oauthErrorOf(result.connectError)));
    }
    const { approvedGrantId: grantId } = pending;
    if (grantId === undefined) throw new Error('the user has not approved the request');
    return issueCode({ pending, client, session, grantId }, context, options);
  };
}

function oauthErrorOf(error: ConnectError): OAuthError {
  switch (error) {
    case 'access_denied':
      return new AccessDeniedError('the user is not connected to the server behind the gateway');
    case 'not_permitted':
      return new AccessDeniedError('the user may not use the server behind the gateway');
    case 'temporarily_unavailable':
      return new TemporarilyUnavailableError(
        'the authorization server of the server behind the gateway does not answer',
      );
    case 'server_error':
      return new ServerError(
        'the authorization server of the server behind the gateway failed, or refused',
      );
    case 'configuration_error':
      return new ServerError(
        'the gateway cannot connect users to the server behind it; its administrator can see why',
      );
    case 'route_changed':
      return new ServerError('the server was set up anew while the user connected; try again');
  }
}
