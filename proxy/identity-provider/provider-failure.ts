import { AuthorizationResponseError, ResponseBodyError } from 'openid-client';

import { SignInFailedError } from '../errors/authentication-errors.ts';
import { shownErrorCode } from '../errors/shown-error-code.ts';
import { UnavailableError } from '../errors/unavailable-error.ts';
import { REST_SECONDS } from '../store/renewal-lease.ts';
import { GithubRefusedError } from './github-request.ts';
import { GroupsLookupError } from './look-up-groups.ts';
import type { UnusableClaims } from './identity-from-claims.ts';

/**
 * Returns the error for a sign-in that the identity provider did not complete. Its cause is a description
 * only: errors of the protocol contain responses, and responses contain tokens.
 */
export function providerFailure(error: unknown, startAgainUrl: string): SignInFailedError {
  const options = { cause: new Error(describe(error)), startAgainUrl };
  const refusal = refusalOf(error);
  if (refusal === 'access-denied') {
    const message = 'the identity provider denied access';
    return new SignInFailedError('access-denied', message, { ...options, status: 403 });
  }
  if (refusal === 'invalid-grant') {
    const message =
      "the identity provider refused the authorization code: expired, used or another's";
    return new SignInFailedError('invalid-grant', message, options);
  }
  if (error instanceof GroupsLookupError) {
    return new SignInFailedError('groups-lookup-failed', error.message, {
      ...options,
      status: 502,
    });
  }
  const message = 'the identity provider could not be used';
  return new SignInFailedError('identity-provider-failed', message, { ...options, status: 502 });
}

/** Returns the refusal of this one sign-in in an error; undefined if the cause is something else. */
function refusalOf(error: unknown): 'access-denied' | 'invalid-grant' | undefined {
  if (error instanceof AuthorizationResponseError) {
    return error.error === 'access_denied' ? 'access-denied' : undefined;
  }
  if (error instanceof ResponseBodyError) {
    return error.error === 'invalid_grant' ? 'invalid-grant' : undefined;
  }
  if (!(error instanceof GithubRefusedError)) return undefined;
  if (error.code === 'access_denied') return 'access-denied';
  return error.code === 'bad_verification_code' ? 'invalid-grant' : undefined;
}

const ASK_THE_ADMINISTRATOR =
  'The administrator of this gateway can change that: give them the request ID.';

const UNUSABLE: Readonly<Record<UnusableClaims, { readonly log: string; readonly page: string }>> =
  {
    'groups-left-out': {
      log: 'left out the groups of the user',
      page: 'The identity provider did not send your groups, usually because you are in too many.',
    },
    'groups-unreadable': {
      log: 'sent groups that are not a list of names',
      page: 'The identity provider sent your groups in a form that the gateway cannot read.',
    },
    'claims-left-out': {
      log: 'referred to claims of the user instead of sending them',
      page: 'The identity provider did not send everything that the gateway must know about you.',
    },
  };

/** Returns the error for a sign-in with claims from which no identity can be made. */
export function unusableClaims(
  reason: UnusableClaims,
  provider: string,
  startAgainUrl: string,
): SignInFailedError {
  const { log, page } = UNUSABLE[reason];
  const advice = `${page} ${ASK_THE_ADMINISTRATOR}`;
  const message = `the identity provider "${provider}" ${log}`;
  return new SignInFailedError(reason, message, { status: 403, startAgainUrl, advice });
}

/** Returns the error for a refresh that the provider did not complete. Its cause is a description only. */
export function providerUnavailable(error: unknown): UnavailableError {
  const message = 'the identity provider could not be used';
  return new UnavailableError('identity-provider-unavailable', message, {
    retryAfterSeconds: REST_SECONDS,
    cause: new Error(describe(error)),
  });
}

/** Deeper causes add nothing useful. */
const MAX_CAUSES = 5;

function describe(error: unknown): string {
  const parts: string[] = [];
  let current = error;
  while (isErrorLike(current) && parts.length < MAX_CAUSES) {
    parts.push(describeOne(current));
    current = current.cause;
  }
  if (current instanceof Response) parts.push(`HTTP status ${String(current.status)}`);
  return parts.join('; caused by ');
}

/** Recognised by its members, because errors of `fetch` may be of a different realm. */
interface ErrorLike {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly cause?: unknown;
}

function isErrorLike(value: unknown): value is ErrorLike {
  if (typeof value !== 'object' || value === null) return false;
  if (!('name' in value) || !('message' in value)) return false;
  return typeof value.name === 'string' && typeof value.message === 'string';
}

function describeOne(error: ErrorLike): string {
  // The message of a JSON syntax error quotes the text, which may be part of a token response.
  if (error.name === 'SyntaxError') return error.name;
  const code = typeof error.code === 'string' ? ` (${error.code})` : '';
  const protocolError =
    error instanceof ResponseBodyError || error instanceof AuthorizationResponseError
      ? `: ${shownErrorCode(error.error)}`
      : '';
  return `${error.name}: ${error.message}${code}${protocolError}`;
}
