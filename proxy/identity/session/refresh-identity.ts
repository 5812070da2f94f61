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
import { refusesUser } from '../../errors/refuses-user.ts';
import type { ClaimSettings } from '../../identity-provider/identity-from-claims.ts';
import { lookUpLeftOutGroups } from '../../identity-provider/look-up-groups.ts';
import { observeResponses, type ObservedResponse } from '../../identity-provider/observed-fetch.ts';
import { providerUnavailable } from '../../identity-provider/provider-failure.ts';
import type { Identity } from '../../records/session.ts';

/** The last answer of the provider: from the sign-in, or from the previous refresh. */
interface Credentials {
  readonly refreshToken: string;
  readonly identity: Identity;
  /** How to read the claims. */
  readonly settings: ClaimSettings;
}

type Keep = (refreshToken: string) => Promise<void>;
type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;
type TokenRefresh = { readonly kind: 'tokens'; readonly tokens: Tokens } | SignInOver;

/**
 * Gets the user's current identity from the provider with a refresh token (OpenID Connect Core, section
 * 12). The first request uses the token up.
 *
 * `keep` stores the next refresh token before anything else is done with the response, since that can
 * fail and the provider may never accept the old token again.
 *
 * Rejects with an `UnavailableError` if the provider fails, and with the error of `keep`.
 */
export async function refreshIdentity(
  client: ProviderClient,
  { refreshToken, identity, settings }: Credentials,
  keep: Keep,
): Promise<IdentityRefresh> {
  const refresh = await refreshTokens(client, refreshToken, keep);
  if (refresh.kind === 'over') return refresh;
  const { tokens } = refresh;
  const claims = await refreshedClaims(client, tokens, settings).catch((error: unknown) => {
    throw providerUnavailable(error);
  });
  return identityFromRefreshedClaims(claims, identity, settings);
}

async function refreshedClaims(
  client: ProviderClient,
  tokens: Tokens,
  settings: ClaimSettings,
): Promise<RefreshedClaims> {
  const { access_token: accessToken } = tokens;
  const idToken = tokens.claims();
  const userInfo = await userInfoOf(client, accessToken);
  const sources = [idToken ?? {}, userInfo ?? {}];
  const lookedUp = await lookUpLeftOutGroups(client, accessToken, sources, settings);
  return { idToken, userInfo, lookedUp };
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
  // If `keep` failed, it was the reason why the request failed, and not the provider.
  await kept;
  if (outcome.status === 'fulfilled') {
    // The observer may not have recognised the token.
    await keepNext(outcome.value.refresh_token);
    return { kind: 'tokens', tokens: outcome.value };
  }
  const reason = refusalIn(outcome.reason);
  if (reason === undefined) throw providerUnavailable(outcome.reason);
  return { kind: 'over', reason };
}

function isFromTokenEndpoint({ url }: ObservedResponse, client: ProviderClient): boolean {
  const { token_endpoint: endpoint } = client.serverMetadata();
  // The two may be spelled differently: with a default port, or in capitals.
  return endpoint !== undefined && new URL(endpoint).href === new URL(url).href;
}

function refreshTokenIn({ ok, content }: ObservedResponse): string | undefined {
  const body = ok ? parsed(content) : undefined;
  if (typeof body !== 'object' || body === null || !('refresh_token' in body)) return undefined;
  const { refresh_token: token } = body;
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** Returns the JSON value, or undefined: the caller of the request refuses a response that is not JSON. */
function parsed(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString());
  } catch {
    return undefined;
  }
}

const TOO_MANY_REQUESTS = 429;

function refusalIn(error: unknown): string | undefined {
  if (!(error instanceof ResponseBodyError) || error.status === TOO_MANY_REQUESTS) return undefined;
  return refusesUser(error.error) ? error.error.replaceAll('_', '-') : undefined;
}

async function userInfoOf(
  client: ProviderClient,
  accessToken: string,
): Promise<RefreshedClaims['userInfo']> {
  if (client.serverMetadata().userinfo_endpoint === undefined) return undefined;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked to warn; checked with the rest
  return fetchUserInfo(client, accessToken, skipSubjectCheck);
}
