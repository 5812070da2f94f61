import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';

import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Members of the header of a token. `alg` is that of the key, and `kid` its id, unless it is given. */
type Header = Readonly<Record<string, unknown>>;

/** A key that signs tokens, and what the issuer publishes of it. */
export interface IssuerKey {
  readonly privateKey: CryptoKey;
  readonly algorithm: string;
  readonly publicJwk: JWK;
}

/** The time in all tests of tokens, in milliseconds since the epoch. */
export const TOKEN_TIME = Date.UTC(2026, 0, 1);

const NOW = TOKEN_TIME / 1000;
const LIFETIME_SECONDS = 300;

/** Makes a key pair whose public part has the id. */
export async function issuerKey(keyId = 'key-1', algorithm = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), kid: keyId, alg: algorithm, use: 'sig' };
  return { privateKey, algorithm, publicJwk };
}

/** Signs a token about alice for the client `gateway`, which is valid for five minutes. */
export function signToken(
  key: IssuerKey,
  claims: Claims = {},
  header: Header = {},
): Promise<string> {
  const all = { iss: 'https://id.example', sub: 'alice', aud: 'gateway', ...times(), ...claims };
  const { kid = '' } = key.publicJwk;
  // `undefined` takes a member away.
  const present = JSON.parse(JSON.stringify(all)) as Claims;
  return new SignJWT(present)
    .setProtectedHeader({ alg: key.algorithm, kid, ...header })
    .sign(key.privateKey, { crit: { extension: true } });
}

function times(): Claims {
  return { iat: NOW, exp: NOW + LIFETIME_SECONDS };
}

/** The settings of a provider whose keys are known without a request. */
export function providerWithKeys(
  keys: readonly IssuerKey[],
  settings: Partial<CompiledIdentityProvider> = {},
): CompiledIdentityProvider {
  return {
    kind: 'identity-provider',
    name: 'test',
    issuer: 'https://id.example',
    signIn: true,
    clientId: 'gateway',
    authorizationParams: {},
    // The settings have no keys without an id, and no others than these types.
    keys: keys.map(({ publicJwk }) => publicJwk) as NonNullable<CompiledIdentityProvider['keys']>,
    ...settings,
  };
}
