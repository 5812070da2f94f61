import { signToken, type IssuerKey } from '../token-issuer.ts';
import { OTHER_CLIENT_ID, SCOPES } from '../identity-provider-configuration.ts';
import type { TestIdentityProvider } from '../identity-provider.ts';
import { obtainTokens } from '../provider-tokens.ts';
import { AUDIENCE, OPAQUE_AUDIENCE, type MatrixWorld } from './matrix-world.ts';

type Members = Readonly<Record<string, unknown>>;

/** A kind of token that a format accepts. */
export interface TokenKind {
  /** Gets one from a provider for alice, for an audience. */
  obtain(provider: TestIdentityProvider, audience?: string): Promise<string>;
  /** The audience that the routes accept. */
  readonly audience: string;
  /** The claims and the header of a token that differ from those of other kinds; absent if it is opaque. */
  readonly form?: { readonly claims: Members; readonly header: Members };
}

/** Access tokens are got by another application than the gateway. */
const APPLICATION = { client: OTHER_CLIENT_ID, scope: 'openid read' };

export const JWT_ACCESS_TOKEN: TokenKind = {
  audience: AUDIENCE,
  async obtain(provider, resource = AUDIENCE) {
    const { accessToken } = await obtainTokens(provider, { ...APPLICATION, resource });
    return accessToken;
  },
  form: { claims: { client_id: OTHER_CLIENT_ID, scope: 'read' }, header: { typ: 'at+jwt' } },
};

export const OPAQUE_ACCESS_TOKEN: TokenKind = {
  audience: OPAQUE_AUDIENCE,
  obtain: (provider, audience = OPAQUE_AUDIENCE) =>
    JWT_ACCESS_TOKEN.obtain(provider, audience.replace('//jwt.', '//')),
};

export const IDENTITY_TOKEN: TokenKind = {
  audience: 'gatehouse',
  async obtain(provider, client = 'gatehouse') {
    return (await obtainTokens(provider, { scope: SCOPES, client })).identityToken;
  },
  form: { claims: {}, header: { typ: 'JWT' } },
};

/** What differs from a valid token. */
export interface Forgery {
  readonly claims?: Members;
  readonly header?: Members;
  /** Instead of the provider's key for ES256. */
  readonly key?: IssuerKey;
}

/** Makes a JWT as the provider would, by its own key unless another is given. */
export function forge(
  { audience, form }: TokenKind,
  world: MatrixWorld,
  { claims = {}, header = {}, key = world.provider.keys[1] }: Forgery = {},
): Promise<string> {
  const now = world.nowSeconds();
  const times = { iat: now, exp: now + 600 };
  const all = { iss: world.provider.issuer, aud: audience, ...times, ...form?.claims, ...claims };
  return signToken(key, all, { ...form?.header, ...header });
}
