import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import type { Identity } from '../records/session.ts';
import type { ClaimedIdentity } from './identity-from-claims.ts';
import type { ProviderCalls, ProviderOperation } from './provider-calls.ts';
import {
  GITHUB_API_HEADERS,
  memberIn,
  requestGithub,
  type GithubResponse,
} from './github-request.ts';

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
const NOT_FOUND = 404;

const SUSPENDED = /\baccount was suspended\b/i;
const RATE_LIMIT = /\brate limit\b/i;

/** GitHub does not accept an access token, or not any more. */
export class GithubTokenRefusedError extends Error {
  override readonly name = 'GithubTokenRefusedError';
}

/**
 * Returns the user of an access token, from GitHub's REST API. Rejects with a `GithubTokenRefusedError` if
 * GitHub does not accept the token, and with another error if it does not tell.
 *
 * The subject is the number of the account: user names change hands. The address is the primary one, if it
 * is verified. What users write into their profile is left out, except for the name: policies must not rely
 * on it.
 */
export async function githubUserOf(
  provider: Pick<CompiledIdentityProvider, 'name' | 'issuer' | 'apiUrl'>,
  accessToken: string,
  calls: ProviderCalls,
): Promise<ClaimedIdentity> {
  const get = (path: string, operation: ProviderOperation): Promise<GithubResponse> =>
    getFrom(provider, { path, operation, accessToken }, calls);
  const user = await get('/user', 'userinfo');
  const id = memberIn(user.body, 'id');
  const login = memberIn(user.body, 'login');
  const isUser = user.status === 200 && Number.isSafeInteger(id) && typeof login === 'string';
  if (!isUser) throw unexpected('/user', user);
  const emails = await get(EMAILS, 'emails');
  // Attack: a user takes the scope away, and counts as one without an address.
  if (isNotAllowed(emails) || !hasAllAddresses(emails)) {
    return { kind: 'unusable', reason: 'claims-left-out' };
  }
  const addresses: unknown = emails.body;
  if (emails.status !== 200 || !Array.isArray(addresses)) throw unexpected(EMAILS, emails);
  const name = memberIn(user.body, 'name');
  const account = { id: String(id), login, ...(typeof name === 'string' && { name }) };
  return { kind: 'identity', identity: identityOf(provider, account, primaryAddress(addresses)) };
}

/** More addresses than a user has. */
const EMAILS = '/user/emails?per_page=100';

/** An account of GitHub. */
interface Account {
  readonly id: string;
  readonly login: string;
  readonly name?: string;
}

function identityOf(
  { name: provider, issuer }: Pick<CompiledIdentityProvider, 'name' | 'issuer'>,
  { id, login, name = login }: Account,
  email: string | undefined,
): Identity {
  const claims = { iss: issuer, sub: id, login, name };
  const user = { provider, issuer, subject: id, name, groups: [] };
  if (email === undefined) return { ...user, claims };
  return { ...user, email, claims: { ...claims, email, email_verified: true } };
}

interface UserRequest {
  readonly path: string;
  readonly operation: ProviderOperation;
  readonly accessToken: string;
}

async function getFrom(
  { apiUrl = '' }: Pick<CompiledIdentityProvider, 'apiUrl'>,
  { path, operation, accessToken }: UserRequest,
  calls: ProviderCalls,
): Promise<GithubResponse> {
  const response = await requestGithub(calls, apiUrl + path, {
    operation,
    headers: { ...GITHUB_API_HEADERS, authorization: `Bearer ${accessToken}` },
  });
  if (response.status !== UNAUTHORIZED && !says(response, SUSPENDED)) return response;
  throw new GithubTokenRefusedError('GitHub does not accept the access token');
}

/**
 * Returns whether a token may not read something. With the same status GitHub limits rates, and for bursts of
 * requests it may say that in words only.
 */
function isNotAllowed(response: GithubResponse): boolean {
  const { status, headers } = response;
  const hasLimit = headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after');
  const isLimited = hasLimit || says(response, RATE_LIMIT);
  return status === NOT_FOUND || (status === FORBIDDEN && !isLimited);
}

/** Returns whether something is forbidden for this reason: GitHub has no codes for them. */
function says({ status, body }: GithubResponse, reason: RegExp): boolean {
  const message = memberIn(body, 'message');
  return status === FORBIDDEN && typeof message === 'string' && reason.test(message);
}

/** Returns whether a response is the only page. RFC 8288, section 3.3. */
function hasAllAddresses({ headers }: GithubResponse): boolean {
  return !/\brel="?next\b/i.test(headers.get('link') ?? '');
}

function primaryAddress(addresses: readonly unknown[]): string | undefined {
  const primary = addresses.find((address) => memberIn(address, 'primary') === true);
  const email = memberIn(primary, 'email');
  const isVerified = memberIn(primary, 'verified') === true;
  return isVerified && typeof email === 'string' && email !== '' ? email : undefined;
}

function unexpected(path: string, { status }: GithubResponse): Error {
  return new Error(`unexpected response to GET ${path}, with HTTP status ${String(status)}`);
}
