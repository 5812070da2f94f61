import { generateKeyPairSync } from 'node:crypto';

import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  jwtVerify,
} from 'jose';

import { makeSealingKeys } from '../../../../../cli/process/sealing-keys.ts';
import { deriveAssertionKeys } from '../../../../../proxy/crypto/assertion-keys.ts';
import { AssertionSigner } from '../../../../../proxy/identity/assertion/assertion.ts';
import type { Identity, Session } from '../../../../../proxy/records/session.ts';
import { jwksDocument } from '../../../../../proxy/identity/assertion/signing-keys.ts';
import type { CompiledSigningKeys } from '../../../../../shared/snapshot/snapshot.ts';
import { verifies } from '../../../../requirements/verifies.ts';

const ORIGIN = 'https://app.example';

function sessionOf(id: string, identity: Partial<Identity> = {}): Session {
  return {
    id,
    signInId: 'sign-in-1',
    identity: { provider: 'corp', subject: 'u1', groups: [], claims: {}, ...identity },
    createdAt: 0,
    expiresAt: Number.MAX_SAFE_INTEGER,
  };
}

/** A key as the gateway makes one when the settings name none. */
function aKey(): CompiledSigningKeys {
  return deriveAssertionKeys(makeSealingKeys());
}

function keysOf(...entries: CompiledSigningKeys['keys']): CompiledSigningKeys {
  return { kind: 'signing-keys', keys: entries };
}

const pem = { type: 'pkcs8', format: 'pem' } as const;
const spki = { type: 'spki', format: 'pem' } as const;
const encodings = { privateKeyEncoding: pem, publicKeyEncoding: spki };

describe('AssertionSigner', () => {
  let now: number;
  let random: number;
  let signer: AssertionSigner;
  let keys: CompiledSigningKeys;

  beforeEach(() => {
    now = Date.now();
    random = 0;
    keys = aKey();
    signer = new AssertionSigner({ defaultKeys: keys, now: () => now, random: () => random });
  });

  verifies(
    ['assertion.claims', 'assertion.verifiable'],
    'makes a JWT about the user, for one host, valid for five minutes',
    async () => {
      const session = sessionOf('s', {
        email: 'ann@example.com',
        name: 'Ann',
        groups: ['a', 'b'],
        claims: { secret: 'not for upstreams' },
      });
      const token = signer.assertionFor(session, ORIGIN, keys);
      const jwks = createLocalJWKSet({ keys: [...jwksDocument(keys).keys] });
      const { payload, protectedHeader } = await jwtVerify(token, jwks, {
        issuer: ORIGIN,
        audience: 'app.example',
        typ: 'JWT',
        algorithms: ['ES256'],
      });

      const issuedAt = Math.floor(now / 1000);
      expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'JWT', kid: keys.keys[0]?.keyId });
      expect(payload).toEqual({
        iss: ORIGIN,
        aud: 'app.example',
        sub: 'u1',
        email: 'ann@example.com',
        groups: ['a', 'b'],
        name: 'Ann',
        iat: issuedAt,
        exp: issuedAt + 300,
        jti: expect.stringMatching(/^[\w-]{36}$/),
      });
    },
  );

  verifies('assertion.claims', 'leaves out unknown claims, except for the list of groups', () => {
    const claims = decodeJwt(signer.assertionFor(sessionOf('s'), ORIGIN, keys));
    expect(Object.keys(claims).sort()).toEqual([
      'aud',
      'exp',
      'groups',
      'iat',
      'iss',
      'jti',
      'sub',
    ]);
    expect(claims['groups']).toEqual([]);
  });

  const AUDIENCES: readonly (readonly [string, string])[] = [
    ['https://app.example', 'app.example'],
    ['https://app.example:8443', 'app.example:8443'],
    ['http://localhost:8080', 'localhost:8080'],
  ];

  for (const [origin, audience] of AUDIENCES) {
    verifies('assertion.claims', `from ${origin} is for ${audience}`, () => {
      const claims = decodeJwt(signer.assertionFor(sessionOf('s'), origin, keys));
      expect(claims).toMatchObject({ iss: origin, aud: audience });
    });
  }

  for (const [chance, reuseMs] of [
    [0, 45_000],
    [0.5, 52_500],
    [0.999, 59_985],
  ] as const) {
    test(`reuses an assertion for ${String(reuseMs)} ms, for a session and a host`, () => {
      random = chance;
      const session = sessionOf('s');
      const first = signer.assertionFor(session, ORIGIN, keys);

      now += reuseMs - 1;
      expect(signer.assertionFor(session, ORIGIN, keys)).toBe(first);
      now += 1;
      const next = signer.assertionFor(session, ORIGIN, keys);
      expect(decodeJwt(next).jti).not.toBe(decodeJwt(first).jti);
      expect(decodeJwt(next).iat).toBe(Math.floor(now / 1000));
    });
  }

  test('signs at once for a session whose user has changed, and not for an equal one', () => {
    const assertionWith = (...groups: string[]): string =>
      signer.assertionFor(sessionOf('s', { groups }), ORIGIN, keys);
    const first = assertionWith('a', 'b');

    expect(assertionWith('a', 'b')).toBe(first);
    expect(decodeJwt(assertionWith('a'))).toMatchObject({ groups: ['a'] });
  });

  test('reuses the assertions of several hosts and keys in turn', () => {
    const session = sessionOf('s');
    const others = aKey();
    const inTurn = (): string[] => [
      signer.assertionFor(session, ORIGIN, keys),
      signer.assertionFor(session, 'https://two.example', keys),
      signer.assertionFor(session, ORIGIN, others),
    ];
    const first = inTurn();
    expect(new Set(first).size).toBe(3);
    expect(first.map((token) => decodeJwt(token).iss)).toEqual([
      ORIGIN,
      'https://two.example',
      ORIGIN,
    ]);
    expect(decodeProtectedHeader(first[2] ?? '').kid).toBe(others.keys[0]?.keyId);
    expect(inTurn()).toEqual(first);
  });

  test('names the user of the session, whoever had an assertion before', () => {
    const sessions = ['u1', 'u2'].map((subject) => sessionOf(subject, { subject }));
    for (const session of [...sessions, ...sessions]) {
      const { sub } = decodeJwt(signer.assertionFor(session, ORIGIN, keys));
      expect(sub).toBe(session.identity.subject);
    }
  });

  test('signs for each session, host and key separately', () => {
    const others = aKey();
    const tokens = [
      signer.assertionFor(sessionOf('s'), ORIGIN, keys),
      signer.assertionFor(sessionOf('t', { subject: 'u2' }), ORIGIN, keys),
      signer.assertionFor(sessionOf('s'), 'https://two.example', keys),
      signer.assertionFor(sessionOf('s'), ORIGIN, others),
    ];

    expect(new Set(tokens).size).toBe(4);
    expect(decodeJwt(tokens[1] ?? '').sub).toBe('u2');
    expect(decodeJwt(tokens[2] ?? '').iss).toBe('https://two.example');
    expect(decodeProtectedHeader(tokens[3] ?? '').kid).toBe(others.keys[0]?.keyId);
  });

  test('reuses its assertions when a snapshot brings the same keys again', () => {
    const first = signer.assertionFor(sessionOf('s'), ORIGIN, keys);
    expect(signer.assertionFor(sessionOf('s'), ORIGIN, structuredClone(keys))).toBe(first);
  });

  verifies('assertion.verifiable', 'signs with the first key, and publishes all keys', async () => {
    const [old, fresh] = [aKey(), aKey()];
    const before = signer.assertionFor(sessionOf('s'), ORIGIN, old);
    const rotated = keysOf(...fresh.keys, ...old.keys);
    const after = signer.assertionFor(sessionOf('s'), ORIGIN, rotated);
    const jwks = createLocalJWKSet({ keys: [...jwksDocument(rotated).keys] });

    expect(decodeProtectedHeader(after).kid).toBe(fresh.keys[0]?.keyId);
    for (const token of [before, after]) {
      expect((await jwtVerify(token, jwks)).payload.sub).toBe('u1');
    }
  });

  const OTHER_KEYS: readonly (readonly ['RS256' | 'EdDSA', () => string])[] = [
    ['RS256', () => generateKeyPairSync('rsa', { modulusLength: 2048, ...encodings }).privateKey],
    ['EdDSA', () => generateKeyPairSync('ed25519', encodings).privateKey],
  ];

  for (const [algorithm, generate] of OTHER_KEYS) {
    verifies('assertion.verifiable', `signs with ${algorithm} too`, async () => {
      const other = keysOf({ keyId: 'k', algorithm, privateKey: generate() });
      const token = signer.assertionFor(sessionOf('s'), ORIGIN, other);
      const jwks = createLocalJWKSet({ keys: [...jwksDocument(other).keys] });

      expect((await jwtVerify(token, jwks, { algorithms: [algorithm] })).payload.sub).toBe('u1');
    });
  }

  test('tries again after signing failed', () => {
    const { privateKey } = generateKeyPairSync('ed25519', encodings);
    const wrong = keysOf({ keyId: 'k', algorithm: 'ES256', privateKey });
    const session = sessionOf('s');
    expect(() => signer.assertionFor(session, ORIGIN, wrong)).toThrow();
    expect(() => signer.assertionFor(session, ORIGIN, wrong)).toThrow();
    expect(signer.assertionFor(session, ORIGIN, keys)).toContain('.');
  });
});

describe('jwksDocument', () => {
  test('publishes the public half of every key, and its use', () => {
    const keys = aKey();
    const [key] = jwksDocument(keys).keys;

    expect(Object.keys(key ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    expect(key).toMatchObject({ alg: 'ES256', use: 'sig', kid: keys.keys[0]?.keyId });
  });

  test('identifies a derived key by its thumbprint (RFC 7638)', async () => {
    const keys = aKey();
    const [key = {}] = jwksDocument(keys).keys;
    expect(await calculateJwkThumbprint(key)).toBe(keys.keys[0]?.keyId);
  });

  test('never publishes a private member of any kind of key', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048, ...encodings }).privateKey;
    const ed25519 = generateKeyPairSync('ed25519', encodings).privateKey;
    const { keys } = jwksDocument(
      keysOf(
        { keyId: 'a', algorithm: 'RS256', privateKey: rsa },
        { keyId: 'b', algorithm: 'EdDSA', privateKey: ed25519 },
      ),
    );

    // RFC 7518, sections 6.2.2 and 6.3.2.
    for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']) {
      for (const key of keys) expect(key).not.toHaveProperty(member);
    }
  });
});
