import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { exportSPKI, importJWK, SignJWT } from 'jose';

import type { TokenExpectation } from '../../../../proxy/token-verification/token-verifier.ts';
import type { CompiledIdentityProvider } from '../../../../shared/snapshot/snapshot.ts';
import { withSignatureInDer } from '../../../support/signature-in-der.ts';
import {
  issuerKey,
  providerWithKeys,
  signToken,
  TOKEN_TIME,
  type IssuerKey,
} from '../../../support/token-issuer.ts';
import { ALICE, verdictOn } from '../../../support/token-verdict.ts';

const NOW = TOKEN_TIME / 1000;
const MINUTE = 60;

let key: IssuerKey;
let other: IssuerKey;

beforeAll(async () => {
  key = await issuerKey();
  other = await issuerKey('key-2');
});

type Claims = Readonly<Record<string, unknown>>;

type Case = readonly [name: string, claims: Claims, header: Claims, expected: string];

/** What holds for every JWT, in all formats. */
const ANY_JWT: readonly Case[] = [
  ['expired within the skew of clocks', { exp: NOW - 9 }, {}, ALICE],
  ['expired', { exp: NOW - 10 }, {}, 'token-expired'],
  ['without expiry', { exp: undefined }, {}, 'incomplete-claims'],
  ['with an expiry in text', { exp: String(NOW + MINUTE) }, {}, 'incomplete-claims'],
  ['not yet valid within the skew', { nbf: NOW + 10 }, {}, ALICE],
  ['not yet valid', { nbf: NOW + 11 }, {}, 'token-not-yet-valid'],
  ['issued in the future', { iat: NOW + 11 }, {}, 'token-not-yet-valid'],
  ['of another issuer', { iss: 'https://other.example' }, {}, 'unknown-issuer'],
  ['of the issuer with a slash', { iss: 'https://id.example/' }, {}, 'unknown-issuer'],
  ['of a list of issuers', { iss: ['https://id.example'] }, {}, 'unknown-issuer'],
  ['without an issuer', { iss: undefined }, {}, 'unknown-issuer'],
  ['without a subject', { sub: undefined }, {}, 'incomplete-claims'],
  ['with an empty subject', { sub: '' }, {}, 'incomplete-claims'],
  ['with a subject that is a number', { sub: 7 }, {}, 'incomplete-claims'],
  ['for another audience', { aud: 'other' }, {}, 'wrong-audience'],
  ['without an audience', { aud: undefined }, {}, 'no-audience'],
  ['with an audience that is an object', { aud: { gateway: true } }, {}, 'incomplete-claims'],
  ['that needs a proof of possession', { cnf: { jkt: 'thumbprint' } }, {}, 'sender-constrained'],
  ['of an unknown key', {}, { kid: 'unknown' }, 'unknown-key'],
  ['with a critical header', {}, { crit: ['extension'], extension: 1 }, 'malformed-token'],
  ['with groups that are left out', { _claim_names: { groups: 'a' } }, {}, 'groups-left-out'],
  ['with unreadable groups', { groups: { a: 1 } }, {}, 'groups-unreadable'],
  ['with a key at an address of its own', {}, { jku: 'https://evil.example/keys' }, ALICE],
];

interface FormatCase {
  readonly format: string;
  readonly expected: TokenExpectation;
  /** Claims and header of a token that is accepted. */
  readonly claims: Claims;
  readonly header: Claims;
  readonly settings: Partial<CompiledIdentityProvider>;
}

const FORMATS: readonly FormatCase[] = [
  {
    format: 'jwt',
    expected: { format: 'jwt' },
    claims: {},
    header: {},
    settings: { audiences: ['gateway'] },
  },
  {
    format: 'idp_identity_token',
    expected: { format: 'idp_identity_token' },
    claims: {},
    header: { typ: 'JWT' },
    settings: {},
  },
  {
    format: 'idp_access_token with typ at+jwt',
    expected: { format: 'idp_access_token', allowedAudiences: ['gateway'] },
    claims: {},
    header: { typ: 'at+jwt' },
    settings: {},
  },
  {
    format: 'idp_access_token with accessTokenType',
    expected: { format: 'idp_access_token', allowedAudiences: ['gateway'] },
    claims: { scope: 'read' },
    header: { typ: 'JWT' },
    settings: { accessTokenType: 'jwt' },
  },
];

describe.each(FORMATS)('a JWT in the format $format', ({ expected, claims, header, settings }) => {
  const verify = (token: string) => verdictOn(token, expected, providerWithKeys([key], settings));
  const make = (more: Claims = {}, moreHeader: Claims = {}) =>
    signToken(key, { ...claims, ...more }, { ...header, ...moreHeader });

  test('identifies its subject', async () => {
    expect(await verify(await make())).toBe(ALICE);
  });

  test.each(ANY_JWT)('%s', async (_name, more, moreHeader, result) => {
    expect(await verify(await make(more, moreHeader))).toBe(result);
  });

  test('is refused without a signature', async () => {
    const [, payload = ''] = (await make()).split('.');
    const unsigned = `${base64url({ ...header, alg: 'none' })}.${payload}.`;

    expect(await verify(unsigned)).toBe('algorithm-refused');
  });

  test('is refused with a signature by the public key as a secret', async () => {
    const secret = Buffer.from(await exportSPKI(await publicKeyOf(key)));
    const forged = await new SignJWT(payloadOf(await make()))
      .setProtectedHeader({ ...header, alg: 'HS256', kid: 'key-1' })
      .sign(secret);

    expect(await verify(forged)).toBe('algorithm-refused');
  });

  test('is refused with a signature by a key in its own header', async () => {
    const forged = { kid: 'key-1', jwk: other.publicJwk };

    expect(await verify(await signToken(other, claims, { ...header, ...forged }))).toBe(
      'bad-signature',
    );
  });

  test('is refused with an ECDSA signature in DER', async () => {
    expect(await verify(withSignatureInDer(await make()))).toBe('bad-signature');
  });

  test('is refused after any change', async () => {
    const token = await make();
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: token.length - 1 }),
        fc.constantFrom('', ...'ABCxyz019-_.=~'.split('')),
        async (position, character) => {
          const changed = token.slice(0, position) + character + token.slice(position + 1);
          fc.pre(changed !== token);
          const result = await verify(changed).catch(String);
          expect(result).not.toBe(ALICE);
        },
      ),
    );
  });

  test('is refused with a signature in another spelling', async () => {
    const token = await make();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet[alphabet.indexOf(token.at(-1) ?? '') + 1] ?? '';

    expect(await verify(token.slice(0, -1) + last)).toBe('malformed-token');
  });

  test.each(['secevent+jwt', 'dpop+jwt', 'logout+jwt', 7])(
    'is refused with typ %s',
    async (typ) => {
      expect(await verify(await make({}, { typ }))).toBe('wrong-token-type');
    },
  );

  test('is refused if its key has no id, and there are several', async () => {
    const provider = providerWithKeys([key, other], settings);

    expect(await verdictOn(await make({}, { kid: undefined }), expected, provider)).toBe(
      'ambiguous-key',
    );
  });

  test('needs no key id if there is one key', async () => {
    expect(await verify(await make({}, { kid: undefined }))).toBe(ALICE);
  });
});

function base64url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function payloadOf(token: string): Claims {
  const [, payload = ''] = token.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
}

async function publicKeyOf({ publicJwk, algorithm }: IssuerKey) {
  return (await importJWK(publicJwk, algorithm)) as Parameters<typeof exportSPKI>[0];
}
