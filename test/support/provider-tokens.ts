import { createHash, randomBytes } from 'node:crypto';

import { BrowserJar } from './browser-jar.ts';
import { CLIENT_ID, REDIRECT_URI, SCOPES } from './identity-provider-configuration.ts';
import type { TestIdentityProvider } from './identity-provider.ts';

/** What an application asks a provider for. */
export interface TokensWanted {
  readonly login?: string;
  readonly scope?: string;
  /** What the access token is for (RFC 8707); absent: for userinfo. */
  readonly resource?: string;
  /** Who asks: the client of the gateway, unless it is given. */
  readonly client?: string;
}

/** Tokens that a provider issued. */
export interface ProviderTokens {
  readonly accessToken: string;
  readonly identityToken: string;
  /** Absent unless the provider gives them. */
  readonly refreshToken: string | undefined;
}

/** Signs a user in at a provider for an application, by the authorization code flow, and returns the tokens. */
export async function obtainTokens(
  provider: TestIdentityProvider,
  { login = 'alice', scope = SCOPES, resource, client = CLIENT_ID }: TokensWanted = {},
): Promise<ProviderTokens> {
  provider.redirectUris.add(REDIRECT_URI);
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    ...{ client_id: client, response_type: 'code', redirect_uri: REDIRECT_URI, scope },
    ...{ code_challenge: challengeOf(verifier), code_challenge_method: 'S256' },
    ...(resource !== undefined && { resource }),
  });
  const stopAt = (url: string): boolean => url.startsWith(REDIRECT_URI);
  const browser = new BrowserJar();
  const page = await browser.open(`${provider.issuer}/auth?${query.toString()}`, { stopAt });
  const last = await browser.submit(page, { login }, { stopAt });
  const code = new URL(last.headers.location ?? '', last.url).searchParams.get('code') ?? '';
  const tokens = await redeem(provider, client, {
    ...{ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI },
    ...{ code_verifier: verifier, ...(resource !== undefined && { resource }) },
  });
  return {
    accessToken: String(tokens['access_token']),
    identityToken: String(tokens['id_token']),
    refreshToken: tokens['refresh_token']?.toString(),
  };
}

async function redeem(
  { issuer, clientSecret }: TestIdentityProvider,
  client: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${client}:${clientSecret}`).toString('base64')}`,
    },
    body: new URLSearchParams(parameters),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
