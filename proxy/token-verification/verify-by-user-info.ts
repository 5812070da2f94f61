import { fetchProtectedResource, type Configuration as ProviderClient } from 'openid-client';

import { providerUnavailable } from '../identity-provider/provider-failure.ts';
import { orUnavailable, userInfoFailure } from './ask-provider.ts';
import { refuseForeignToken } from './token-binding.ts';
import { TokenRefusedError } from './token-refused-error.ts';
import {
  requireIdentity,
  verifiedOpaqueToken,
  type AccessTokenUse,
  type VerificationContext,
  type VerifiedToken,
} from './verified-token.ts';
import { verifyJwt } from './verify-jwt.ts';

const SIGNED = 'application/jwt';

/**
 * Verifies an opaque access token at a provider without introspection: userinfo answers for every token that is
 * valid, whoever got it. So the answer must be signed, which names the client (OpenID Connect Core, section
 * 5.3.2), or else nothing binds the token to the gateway.
 */
export async function verifyByUserInfo(
  token: string,
  client: ProviderClient,
  { provider, allowedAudiences }: AccessTokenUse,
  { keys, now }: VerificationContext,
): Promise<VerifiedToken> {
  const userInfo = await fetchSigned(token, client);
  const { issuer, clientId } = provider;
  const claims = await verifyJwt(userInfo, {
    issuer,
    keys: keys.of(provider),
    requiredClaims: ['aud'],
    now,
  });
  refuseForeignToken(claims, { clientId, allowedAudiences });
  // Its times are those of the answer, and not those of the token.
  return verifiedOpaqueToken(requireIdentity(provider, claims, claims), {});
}

async function fetchSigned(token: string, client: ProviderClient): Promise<string> {
  const { userinfo_endpoint: endpoint } = client.serverMetadata();
  if (endpoint === undefined) {
    throw providerUnavailable(new Error('the provider has neither introspection nor userinfo'));
  }
  const headers = new Headers({ accept: `${SIGNED}, application/json;q=0.1` });
  const url = new URL(endpoint);
  const response = await fetchProtectedResource(client, token, url, 'GET', null, headers).catch(
    (error: unknown) => {
      throw userInfoFailure(error);
    },
  );
  if (response.status !== 200) {
    throw userInfoFailure(new Error('userinfo failed', { cause: response }));
  }
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== SIGNED) throw new TokenRefusedError('unbound-token');
  return orUnavailable(response.text());
}
