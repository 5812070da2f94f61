import {
  fetchUserInfo,
  refreshTokenGrant,
  ResponseBodyError,
  skipSubjectCheck,
  type Configuration as ProviderClient,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
} from 'openid-client';

import {
  identityFromRefreshedClaims,
  type IdentityRefresh,
  type RefreshedClaims,
  type SignInOver,
} from './identity-from-refreshed-claims.ts';
import { observeResponses, type ObservedResponse } from '../provider/observed-fetch.ts';
import { providerUnavailable } from '../provider/provider-failure.ts';
import type { Identity } from '../../records/session.ts';

/** What the provider gave at the sign-in, or at the refresh before. */
interface Credentials {
  readonly refreshToken: string;
  readonly identity: Identity;
}

type Keep = (refreshToken: string) => Promise<void>;
type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;
type TokenRefresh = { readonly kind: 'tokens'; readonly tokens: Tokens } | SignInOver;

/**
 * Asks the provider who the user is by now, with a refresh token (OpenID Connect Core, section 12).
 * The request that uses the token is the first one.
 *
 * `keep` stores the refresh token that came in place of the one sent, before anything that can fail
 * is done with the response: the provider may never take the old one again.
 *
 * Rejects with an `UnavailableError` when the provider did not say, and with what `keep` rejects with.
 */
export async function refreshIdentity(
  client: ProviderClient,
  { refreshToken, identity }: Credentials,
  keep: Keep,
): Promise<IdentityRefresh> {
  const refresh = await refreshTokens(client, refreshToken, keep);
  if (refresh.kind === 'over') return refresh;
  const { tokens } = refresh;
  const userInfo = await userInfoOf(client, tokens.access_token).catch((error: unknown) => {
    throw providerUnavailable(error);
  });
  return identityFromRefreshedClaims({ idToken: tokens.claims(), userInfo }, identity);
}

async function refreshTokens(
  client: ProviderClient,
  refreshToken: string,
  keep: Keep,
): Promise<TokenRefresh> {
  let kept: Promise<void> | undefined;
  const keepNext = async (next: string | undefined): Promise<void> => {
    if (next !== undefined && next !== refreshToken) await (kept ??= keep(next));
  };
  const observer = async (response: ObservedResponse): Promise<void> => {
    if (isFromTokenEndpoint(response, client)) await keepNext(refreshTokenIn(response));
  };
  const grant = observeResponses(observer, () => refreshTokenGrant(client, refreshToken));
  const [outcome] = await Promise.allSettled([grant]);
  // Where that failed, the request did for this reason, and the provider is not to blame.
  await kept;
  if (outcome.status === 'fulfilled') {
    // However the provider said it: one that was not seen above must not be lost either.
    await keepNext(outcome.value.refresh_token);
    return { kind: 'tokens', tokens: outcome.value };
  }
  const reason = refusalIn(outcome.reason);
  if (reason === undefined) throw providerUnavailable(outcome.reason);
  return { kind: 'over', reason };
}

function isFromTokenEndpoint({ url }: ObservedResponse, client: ProviderClient): boolean {
  const { token_endpoint: endpoint } = client.serverMetadata();
  // Providers may spell it otherwise than it is asked for: with a default port, or in capitals.
  return endpoint !== undefined && new URL(endpoint).href === new URL(url).href;
}

function refreshTokenIn({ ok, content }: ObservedResponse): string | undefined {
  const body = ok ? parsed(content) : undefined;
  if (typeof body !== 'object' || body === null || !('refresh_token' in body)) return undefined;
  const { refresh_token: token } = body;
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** What is no JSON is refused by who asked. */
function parsed(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString());
  } catch {
    return undefined;
  }
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
): Promise<RefreshedClaims['userInfo']> {
  if (client.serverMetadata().userinfo_endpoint === undefined) return undefined;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked to warn; checked with the rest
  return fetchUserInfo(client, accessToken, skipSubjectCheck);
}
