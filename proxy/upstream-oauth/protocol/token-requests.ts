import {
  authorizationCodeGrantRequest,
  customFetch,
  OperationProcessingError,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  processRevocationResponse,
  refreshTokenGrantRequest,
  ResponseBodyError,
  revocationRequest,
  type TokenEndpointRequestOptions,
  type TokenEndpointResponse,
  UnsupportedOperationError,
} from 'oauth4webapi';

import { OutboundFailedError, OutboundRefusedError } from '../../outbound/outbound-errors.ts';
import { BY_GUARDED_FETCH } from '../calls/by-guarded-fetch.ts';
import type { UpstreamClient } from '../registration/upstream-client.ts';
import type { UpstreamAuthOutcome } from '../upstream-auth-reports.ts';
import type { UpstreamServer } from '../upstream-authorization.ts';
import { checkedResponse, type ExpectedResponse } from './checked-response.ts';
import { clientAuthentication, oauthClient } from './client-authentication.ts';
import { serverHost } from './server-host.ts';
import { refusedWith, TokenRequestError } from './token-request-error.ts';
import { conformTokenResponse } from './token-response.ts';
import { readTokens, type UpstreamTokens } from './upstream-tokens.ts';

/** What the gateway recorded when it sent the browser away. */
export interface StartedConnection extends ExpectedResponse {
  readonly redirectUri: string;
  /** PKCE verifier (RFC 7636). */
  readonly codeVerifier: string;
}

/** A request of the resource that a token is for (RFC 8707); undefined if the server refuses such requests. */
type Resource = string | undefined;

/**
 * Checks the response that a browser brought back, and redeems its code. Rejects with a `TokenRequestError`,
 * or with the error of the guarded fetch.
 */
export async function redeemCode(
  authorization: UpstreamServer,
  sent: URLSearchParams,
  started: StartedConnection,
  resource: Resource,
): Promise<UpstreamTokens> {
  const parameters = checkedResponse(authorization, sent, started);
  return requestTokens(authorization, resource, async (options) => {
    const { server } = authorization;
    const client = oauthClient(authorization);
    const response = await authorizationCodeGrantRequest(
      server,
      client,
      clientAuthentication(authorization),
      parameters,
      started.redirectUri,
      started.codeVerifier,
      options,
    );
    return processAuthorizationCodeResponse(server, client, response);
  });
}

/** Redeems a refresh token. Rejects as `redeemCode` does. */
export function refreshTokens(
  authorization: UpstreamServer,
  refreshToken: string,
  resource: Resource,
): Promise<UpstreamTokens> {
  return requestTokens(authorization, resource, async (options) => {
    const { server } = authorization;
    const client = oauthClient(authorization);
    const authentication = clientAuthentication(authorization);
    const response = await refreshTokenGrantRequest(
      server,
      client,
      authentication,
      refreshToken,
      options,
    );
    return processRefreshTokenResponse(server, client, response);
  });
}

/** Revokes a token, where the server can (RFC 7009). Rejects if it does not. */
export async function revokeUpstreamToken(
  authorization: UpstreamServer,
  token: string,
  hint: 'access_token' | 'refresh_token',
): Promise<void> {
  const { server, fetch } = authorization;
  if (server.revocation_endpoint === undefined) return;
  const client = oauthClient(authorization);
  const response = await revocationRequest(
    server,
    client,
    clientAuthentication(authorization),
    token,
    { ...BY_GUARDED_FETCH, [customFetch]: fetch, additionalParameters: { token_type_hint: hint } },
  );
  await processRevocationResponse(response);
}

async function requestTokens(
  { issuer, fetch, client, report }: UpstreamServer,
  resource: Resource,
  request: (options: TokenEndpointRequestOptions) => Promise<TokenEndpointResponse>,
): Promise<UpstreamTokens> {
  const host = serverHost(issuer);
  const options: TokenEndpointRequestOptions = {
    ...BY_GUARDED_FETCH,
    [customFetch]: async (url, init) => {
      const conform = await conformTokenResponse(await fetch(url, init));
      if (conform === undefined) throw unavailable(host);
      return conform;
    },
    ...(resource !== undefined && { additionalParameters: { resource } }),
  };
  const [outcome] = await Promise.allSettled([request(options)]);
  if (outcome.status === 'rejected') {
    const failure = failureOf(outcome.reason, host);
    if (isClientRefused(failure, client)) report(clientRefused(failure, host));
    throw failure;
  }
  const tokens = readTokens(outcome.value, host);
  report({ kind: 'success' });
  return tokens;
}

/** Codes that are about the client, whoever the user is (RFC 6749, section 5.2). */
const CLIENT_ERRORS: ReadonlySet<string | undefined> = new Set([
  'invalid_client',
  'unauthorized_client',
]);

/** A registration that a server forgot is made again. */
function isClientRefused(error: unknown, { source }: UpstreamClient): error is TokenRequestError {
  const isOfClient = error instanceof TokenRequestError && CLIENT_ERRORS.has(error.code);
  return isOfClient && source !== 'registered';
}

function clientRefused({ code = '' }: TokenRequestError, host: string): UpstreamAuthOutcome {
  const message = `the token endpoint of ${host} does not accept the client of the gateway: ${code}`;
  return { kind: 'failure', reason: 'upstream-auth-client-refused', message };
}

/** Codes that say nothing about the token or the client: RFC 6749, section 4.1.2.1, and RFC 8628. */
const TEMPORARY: ReadonlySet<string> = new Set([
  'server_error',
  'temporarily_unavailable',
  'slow_down',
]);

/** Errors of the protocol contain responses, and responses contain tokens: they are not kept as causes. */
function failureOf(error: unknown, host: string): unknown {
  if (error instanceof ResponseBodyError) {
    return TEMPORARY.has(error.error) ? unavailable(host) : refusedWith(error.error, host);
  }
  if (error instanceof OperationProcessingError || error instanceof UnsupportedOperationError) {
    const message = `the token response of ${host} is not one of RFC 6749, section 5.1`;
    return new TokenRequestError('upstream-token-unusable', message);
  }
  if (error instanceof OutboundFailedError || error instanceof OutboundRefusedError) {
    return unavailable(host, error);
  }
  return error;
}

function unavailable(host: string, cause?: unknown): TokenRequestError {
  const message = `the token endpoint of ${host} did not answer as one`;
  return new TokenRequestError('upstream-authorization-unavailable', message, { cause });
}
