import {
  type AuthorizationServer,
  customFetch,
  None,
  refreshTokenGrantRequest,
} from 'oauth4webapi';

import {
  UpstreamAuthError,
  type UpstreamAuthReason,
  type UpstreamAuthStep,
} from '../../proxy/errors/upstream-auth-error.ts';
import { ANY_ADDRESS } from '../../proxy/outbound/guarded-fetch.ts';
import { BY_GUARDED_FETCH } from '../../proxy/upstream-oauth/calls/by-guarded-fetch.ts';
import { callFailure, statusFailure } from '../../proxy/upstream-oauth/calls/discovery-failures.ts';
import type {
  UpstreamCallContext,
  UpstreamCalls,
} from '../../proxy/upstream-oauth/calls/upstream-calls.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';

const OK = 200;
const SERVER_ERROR_STATUS = 500;

/** No server has such a token or client, so nothing can change by it. */
const MADE_UP = 'gatehouse-doctor';

/**
 * Redeems a made-up refresh token, which a token endpoint refuses with an error of OAuth. Rejects with an
 * `UpstreamAuthError` if something else answers.
 */
export async function checkTokenEndpoint(
  server: AuthorizationServer,
  calls: UpstreamCalls,
  context: UpstreamCallContext,
): Promise<void> {
  const { token_endpoint: url = '' } = server;
  const options = {
    [customFetch]: calls.fetchFor(server, context),
    ...BY_GUARDED_FETCH,
  };
  const client = { client_id: MADE_UP };
  const response = await refreshTokenGrantRequest(server, client, None(), MADE_UP, options).catch(
    (error: unknown) => {
      throw callFailure(error, url, 'token');
    },
  );
  if (response.status >= SERVER_ERROR_STATUS) throw statusFailure(response.status, url, 'token');
  const body: unknown = await response.json().catch(() => undefined);
  if (isRecord(body) && typeof body['error'] === 'string') return;
  throw failure('upstream-auth-metadata-invalid', 'token', url, 'is no token endpoint');
}

/**
 * Reads the gateway's own client ID metadata document. Rejects with an `UpstreamAuthError` if it is not there:
 * authorization servers could not read it either.
 */
export async function checkMetadataDocument(
  url: string,
  calls: UpstreamCalls,
  { route }: UpstreamCallContext,
): Promise<void> {
  const anywhere = { route, allowedCidrs: ANY_ADDRESS };
  const response = await calls
    .send(url, { step: 'registration' }, anywhere)
    .catch((error: unknown) => {
      throw callFailure(error, url, 'registration');
    });
  if (response.status === OK) return;
  const problem = 'cannot be read, and the authorization server has to';
  throw failure('upstream-auth-no-registration', 'registration', url, problem);
}

function failure(
  reason: UpstreamAuthReason,
  step: UpstreamAuthStep,
  url: string,
  problem: string,
): UpstreamAuthError {
  return new UpstreamAuthError(reason, `${url} ${problem}`, { step, host: URL.parse(url)?.host });
}
