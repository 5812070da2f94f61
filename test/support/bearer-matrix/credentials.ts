import { exportSPKI, importJWK, SignJWT, type CryptoKey } from 'jose';

import type { RequestOptions } from '../http-client.ts';
import { OTHER_CLIENT_ID } from '../identity-provider-configuration.ts';
import { withSignatureInDer } from '../signature-in-der.ts';
import { issuerKey, type IssuerKey } from '../token-issuer.ts';
import { AUDIENCE, PARTNER_AUDIENCE, type MatrixWorld } from './matrix-world.ts';
import {
  forge,
  IDENTITY_TOKEN,
  JWT_ACCESS_TOKEN,
  OPAQUE_ACCESS_TOKEN,
  type Forgery,
  type TokenKind,
} from './token-kinds.ts';

type Headers = NonNullable<RequestOptions['headers']>;
type MakeToken = (kind: TokenKind, world: MatrixWorld) => Promise<string> | string;
type MakeHeaders = (kind: TokenKind, world: MatrixWorld) => Promise<Headers> | Headers;

const MINUTE = 60;

/** After this time, an unknown key id makes the gateway ask for the keys again. */
const RETRY_SECONDS = 30;

/** After this time, a key that was withdrawn does not count. */
const FRESH_SECONDS = 10 * MINUTE;

const ELSEWHERE = 'https://elsewhere.example';
const OPAQUE_AND_UNKNOWN = 'opaque-and-unknown';

/** The credentials of the matrix, by their names in its table. */
export const CREDENTIALS: Readonly<Record<string, MakeHeaders>> = {
  none: () => ({}),
  'session cookie': (_kind, { cookie }) => ({ cookie }),
  'cookie and bearer': async (kind, world) => ({
    ...bearer(await valid(kind, world)),
    cookie: world.cookie,
  }),
  valid: sending(valid),
  'lower-case scheme': async (kind, world) => ({
    authorization: `bearer ${await valid(kind, world)}`,
  }),
  'two Authorization fields': async (kind, world) => {
    const field = `Bearer ${await valid(kind, world)}`;
    return { authorization: [field, field] };
  },
  'huge token': sending(() => 'x'.repeat(9000)),
  'unknown text': sending(() => OPAQUE_AND_UNKNOWN),
  expired: sending((kind, world) =>
    forgeIn(kind, world, { claims: { exp: world.nowSeconds() - MINUTE } }),
  ),
  'not yet valid': sending((kind, world) =>
    forgeIn(kind, world, { claims: { nbf: world.nowSeconds() + MINUTE } }),
  ),
  'wrong audience': sending((kind, { provider }) =>
    kind.obtain(
      provider,
      kind === IDENTITY_TOKEN ? OTHER_CLIENT_ID : 'https://jwt.elsewhere.example',
    ),
  ),
  'no audience': sending((kind, world) => forgeIn(kind, world, { claims: { aud: undefined } })),
  'several audiences': sending((kind, world) =>
    forgeIn(kind, world, { claims: { aud: [ELSEWHERE, kind.audience] } }),
  ),
  'several, and azp': sending((kind, world) =>
    forgeIn(kind, world, { claims: { aud: [ELSEWHERE, kind.audience], azp: 'gatehouse' } }),
  ),
  'wrong issuer': sending((kind, world) => forgeIn(kind, world, { claims: { iss: ELSEWHERE } })),
  'issuer with a slash': sending((kind, world) =>
    forgeIn(kind, world, { claims: { iss: `${world.provider.issuer}/` } }),
  ),
  'alg none': sending(async (kind, world) => unsigned(await forgeIn(kind, world))),
  'HS256, public key': sending(async (kind, world) =>
    signedByPublicKey(await forgeIn(kind, world), world.provider.keys[0]),
  ),
  'bad signature': sending(async (kind, world) => withOtherSignature(await forgeIn(kind, world))),
  ES256: sending((kind, world) => forgeIn(kind, world)),
  'ES256 in DER': sending(async (kind, world) => withSignatureInDer(await forgeIn(kind, world))),
  'unknown key': sending((kind, world) => forgeIn(kind, world, { header: { kid: 'unknown' } })),
  "another provider's": sending((kind, { partner }) =>
    kind.obtain(partner, kind === IDENTITY_TOKEN ? undefined : PARTNER_AUDIENCE),
  ),
  "another's, our audience": sending((kind, { partner }) => kind.obtain(partner)),
  'identity token': sending((_kind, { provider }) => IDENTITY_TOKEN.obtain(provider)),
  'JWT access token': sending((_kind, { provider }) => JWT_ACCESS_TOKEN.obtain(provider, AUDIENCE)),
  'opaque access token': sending((_kind, { provider }) => OPAQUE_ACCESS_TOKEN.obtain(provider)),
  'rotated key': sending(async (kind, world) => {
    const key = await issuerKey(`rotated-${String(world.nowSeconds())}`);
    publish(world, [key], RETRY_SECONDS);
    return forgeIn(kind, world, { key });
  }),
  'withdrawn key': sending((kind, world) => {
    publish(world, [], FRESH_SECONDS);
    return forgeIn(kind, world);
  }),
};

function sending(make: MakeToken): MakeHeaders {
  return async (kind, world) => bearer(await make(kind, world));
}

function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

function valid(kind: TokenKind, { provider }: MatrixWorld): Promise<string> {
  return kind.obtain(provider);
}

/** An opaque token has no inside: the table has no cell for it. */
function forgeIn(kind: TokenKind, world: MatrixWorld, forgery?: Forgery): Promise<string> {
  if (kind.form === undefined) throw new Error('an opaque token cannot be forged');
  return forge(kind, world, forgery);
}

/** Replaces what the provider publishes, and lets a time pass. */
function publish(world: MatrixWorld, keys: readonly IssuerKey[], seconds: number): void {
  const body = { keys: keys.map(({ publicJwk }) => publicJwk) };
  world.provider.answers.set('keys', { status: 200, body });
  world.advance(seconds);
}

function unsigned(token: string): string {
  const { header, payload } = partsOf(token);
  return `${encode({ ...header, alg: 'none' })}.${encode(payload)}.`;
}

async function signedByPublicKey(token: string, { publicJwk }: IssuerKey): Promise<string> {
  const { header, payload } = partsOf(token);
  // An asymmetric key is never bytes.
  const key = (await importJWK(publicJwk, 'RS256')) as CryptoKey;
  return new SignJWT(payload)
    .setProtectedHeader({ ...header, alg: 'HS256', kid: publicJwk.kid ?? '' })
    .sign(Buffer.from(await exportSPKI(key)));
}

function withOtherSignature(token: string): string {
  const end = token.lastIndexOf('.') + 1;
  const signature = Buffer.from(token.slice(end), 'base64url').reverse();
  return token.slice(0, end) + signature.toString('base64url');
}

function partsOf(token: string) {
  const [header = '', payload = ''] = token.split('.').map((part) => {
    return Buffer.from(part, 'base64url').toString();
  });
  type Members = Readonly<Record<string, unknown>>;
  return { header: JSON.parse(header) as Members, payload: JSON.parse(payload) as Members };
}

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
