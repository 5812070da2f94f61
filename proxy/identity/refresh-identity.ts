import {
  fetchUserInfo,
  refreshTokenGrant,
  ResponseBodyError,
  skipSubjectCheck,
  type Configuration as ProviderClient,
  type IDToken,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
} from 'openid-client';

import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { identityFromClaims } from './identity-from-claims.ts';
import { observeResponses } from './observed-fetch.ts';
import type { ProviderDiscovery } from './provider-discovery.ts';
import { providerUnavailable } from './provider-failure.ts';
import type { Identity } from './session.ts';

/** What the provider gave at the sign-in, or at the refresh before. */
interface Credentials {
  readonly refreshToken: string;
  readonly identity: Identity;
}

/** The provider does not vouch for the user any more. */
interface Over {
  readonly kind: 'over';
  readonly reason: string;
}

export type IdentityRefresh = { readonly kind: 'refreshed'; readonly identity: Identity } | Over;

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;
type TokenRefresh = { readonly kind: 'tokens'; readonly tokens: Tokens } | Over;
type UserInfo = Readonly<Record<string, unknown>> & { readonly sub: string };

/**
 * Asks the provider who the user is by now, with a refresh token (OpenID Connect Core, section 12).
 *
 * `keep` stores the refresh token that came in place of the one sent, before anything that can fail
 * is done with the response: the provider may never take the old one again.
 *
 * Rejects with an `UnavailableError` when the provider did not say, and with what `keep` rejects with.
 */
export async function refreshIdentity(
  provider: CompiledIdentityProvider,
  discovery: ProviderDiscovery,
  { refreshToken, identity }: Credentials,
  keep: (refreshToken: string) => Promise<void>,
): Promise<IdentityRefresh> {
  const client = await discovery.clientOf(provider).catch(unavailable);
  const refresh = await refreshTokens(client, refreshToken, keep);
  if (refresh.kind === 'over') return refresh;
  const { tokens } = refresh;
  const userInfo = await userInfoOf(client, tokens.access_token).catch(unavailable);
  return identityOf(tokens.claims(), userInfo, identity);
}

function unavailable(error: unknown): never {
  throw providerUnavailable(error);
}

async function refreshTokens(
  client: ProviderClient,
  refreshToken: string,
  keep: (refreshToken: string) => Promise<void>,
): Promise<TokenRefresh> {
  const tokenEndpoint = client.serverMetadata().token_endpoint;
  let kept: Promise<void> | undefined;
  const observer = async (url: string, response: Response): Promise<void> => {
    const next = url === tokenEndpoint ? await refreshTokenIn(response) : undefined;
    if (next !== undefined && next !== refreshToken) await (kept = keep(next));
  };
  const grant = observeResponses(observer, () => refreshTokenGrant(client, refreshToken));
  const [outcome] = await Promise.allSettled([grant]);
  // Where that failed, the request did for this reason, and the provider is not to blame.
  await kept;
  if (outcome.status === 'fulfilled') return { kind: 'tokens', tokens: outcome.value };
  const reason = refusalIn(outcome.reason);
  if (reason === undefined) throw providerUnavailable(outcome.reason);
  return { kind: 'over', reason };
}

async function refreshTokenIn(response: Response): Promise<string | undefined> {
  if (!response.ok) return undefined;
  // What is no JSON is refused by who asked.
  const body: unknown = await response.json().catch(() => undefined);
  if (typeof body !== 'object' || body === null || !('refresh_token' in body)) return undefined;
  const { refresh_token: token } = body;
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/**
 * Codes by which a provider says no to this user: RFC 6749, section 5.2, and those by which it wants
 * to see the user (OpenID Connect Core, section 3.1.2.6). All others are about the gateway, or pass.
 */
const REFUSALS: ReadonlySet<string> = new Set([
  'invalid_grant',
  'access_denied',
  'interaction_required',
  'login_required',
  'consent_required',
  'account_selection_required',
]);

const TOO_MANY_REQUESTS = 429;

function refusalIn(error: unknown): string | undefined {
  if (!(error instanceof ResponseBodyError) || error.status === TOO_MANY_REQUESTS) return undefined;
  return REFUSALS.has(error.error) ? error.error.replaceAll('_', '-') : undefined;
}

async function userInfoOf(
  client: ProviderClient,
  accessToken: string,
): Promise<UserInfo | undefined> {
  if (client.serverMetadata().userinfo_endpoint === undefined) return undefined;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked to warn; `identityOf` checks
  return fetchUserInfo(client, accessToken, skipSubjectCheck);
}

function identityOf(
  idToken: IDToken | undefined,
  userInfo: UserInfo | undefined,
  before: Identity,
): IdentityRefresh {
  const { provider, subject } = before;
  const subjects = [idToken, userInfo].flatMap((claims) => (claims ? [claims.sub] : []));
  if (subjects.length === 0) return { kind: 'over', reason: 'no-fresh-identity' };
  // OpenID Connect Core, sections 5.3.2 and 12.2: it must be the user who signed in.
  if (subjects.some((sub) => sub !== subject)) return { kind: 'over', reason: 'other-subject' };
  if (idToken !== undefined) {
    return { kind: 'refreshed', identity: identityFromClaims(provider, idToken, userInfo ?? {}) };
  }
  // Some providers leave out a claim that has become empty. Groups of before must not stay for that,
  // nor may they go where only ID tokens have them: a policy could allow, or deny, by either.
  if (before.groups.length > 0 && userInfo?.['groups'] === undefined) {
    return { kind: 'over', reason: 'groups-unknown' };
  }
  const claims = { ...before.claims, ...userInfo, sub: subject };
  return { kind: 'refreshed', identity: identityFromClaims(provider, claims, {}) };
}
