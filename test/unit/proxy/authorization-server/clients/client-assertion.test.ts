import { describe, expect, test } from '@jest/globals';
import {
  exportJWK,
  generateKeyPair,
  type GenerateKeyPairResult,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';

import { TooManyRequestsError } from '../../../../../proxy/errors/denial-errors.ts';
import type { ClientKeySet } from '../../../../../proxy/records/client.ts';
import { verifies } from '../../../../requirements/verifies.ts';
import {
  ISSUER,
  TOKEN_ENDPOINT,
  ASSERTION_TYPE,
  NOW_SECONDS,
  SIGNER,
  UNAPPROVED,
  basic,
  type Attempt,
  setUp,
} from '../../../../support/client-authentication-fixture.ts';

interface AssertionChanges {
  readonly header?: Partial<JWTHeaderParameters>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

function assertionClaims(changes: Readonly<Record<string, unknown>> = {}): JWTPayload {
  return {
    iss: 'signer',
    sub: 'signer',
    aud: ISSUER,
    exp: NOW_SECONDS + 300,
    iat: NOW_SECONDS,
    jti: 'jti-1',
    ...changes,
  };
}

async function assertion(
  { privateKey }: Pick<GenerateKeyPairResult, 'privateKey'>,
  { header = {}, claims = {} }: AssertionChanges = {},
): Promise<{ readonly form: Readonly<Record<string, string>> }> {
  const jwt = await new SignJWT(assertionClaims(claims))
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(privateKey);
  return { form: { client_assertion: jwt, client_assertion_type: ASSERTION_TYPE } };
}

async function keySet(pairs: readonly GenerateKeyPairResult[]): Promise<ClientKeySet> {
  const keys = await Promise.all(pairs.map(({ publicKey }) => exportJWK(publicKey)));
  return { keys: keys.map((key) => ({ ...key })) };
}

describe('a client with a key', () => {
  for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']) {
    verifies('as.client-assertion', `is accepted by an assertion signed with ${alg}`, async () => {
      const pair = await generateKeyPair(alg, { extractable: true });
      const { attempt } = setUp({ keySets: [await keySet([pair])] });
      expect(await attempt(await assertion(pair, { header: { alg } }))).toEqual(SIGNER);
    });
  }

  const ACCEPTABLE: readonly (readonly [string, AssertionChanges])[] = [
    ['the token endpoint as audience', { claims: { aud: TOKEN_ENDPOINT } }],
    ['a list of one audience', { claims: { aud: [ISSUER] } }],
    ['a type', { header: { typ: 'JWT' } }],
    ['the type of client assertions', { header: { typ: 'client-authentication+jwt' } }],
    ['ten minutes to live', { claims: { exp: NOW_SECONDS + 600 } }],
    ['a clock a little behind', { claims: { exp: NOW_SECONDS - 20 } }],
    ['a clock a little ahead', { claims: { nbf: NOW_SECONDS + 20 } }],
    ['a fraction of a second to live', { claims: { exp: NOW_SECONDS + 0.5 } }],
    ['no time of issue', { claims: { iat: undefined } }],
  ];

  for (const [title, changes] of ACCEPTABLE) {
    verifies('as.client-assertion', `may use an assertion with ${title}`, async () => {
      const pair = await generateKeyPair('ES256', { extractable: true });
      const { attempt } = setUp({ keySets: [await keySet([pair])] });
      expect(await attempt(await assertion(pair, changes))).toEqual(SIGNER);
    });
  }

  // Attack: a stranger's client fills the store of used ids until no assertion is accepted.
  test('has no more than 300 assertions a minute accepted', async () => {
    const pair = await generateKeyPair('Ed25519', { extractable: true });
    const { attempt } = setUp({ keySets: [await keySet([pair])] });
    const sign = (jti: string): ReturnType<typeof assertion> =>
      assertion(pair, { header: { alg: 'Ed25519' }, claims: { jti } });
    for (let index = 0; index < 300; index += 1) {
      expect(await attempt(await sign(String(index)))).toEqual(SIGNER);
    }
    await expect(attempt(await sign('300'))).rejects.toMatchObject({ status: 429 });
  });

  const UNACCEPTABLE: readonly (readonly [string, AssertionChanges])[] = [
    ['another issuer', { claims: { iss: 'other' } }],
    ['no issuer', { claims: { iss: undefined } }],
    ['no subject', { claims: { sub: undefined } }],
    ['a subject that is no text', { claims: { sub: 7 } }],
    ['another audience', { claims: { aud: 'https://other.example.com' } }],
    ['no audience', { claims: { aud: undefined } }],
    [
      'a second audience, which could use it here',
      { claims: { aud: [ISSUER, 'https://evil.example'] } },
    ],
    ['no audience in its list', { claims: { aud: [] } }],
    ['no end', { claims: { exp: undefined } }],
    ['its end in the past', { claims: { exp: NOW_SECONDS - 60 } }],
    ['a life too long', { claims: { exp: NOW_SECONDS + 3600 } }],
    ['its beginning in the future', { claims: { nbf: NOW_SECONDS + 60 } }],
    ['no id', { claims: { jti: undefined } }],
    ['an empty id', { claims: { jti: '' } }],
    ['an endless id', { claims: { jti: 'x'.repeat(257) } }],
    ['the type of an access token', { header: { typ: 'at+jwt' } }],
    ['the type of a DPoP proof', { header: { typ: 'dpop+jwt' } }],
  ];

  for (const [title, changes] of UNACCEPTABLE) {
    verifies('as.client-assertion', `is refused by an assertion with ${title}`, async () => {
      const pair = await generateKeyPair('ES256', { extractable: true });
      const { attempt } = setUp({ keySets: [await keySet([pair])] });
      await expect(attempt(await assertion(pair, changes))).rejects.toMatchObject({
        code: 'invalid_client',
      });
    });
  }

  for (const alg of ['ES384', 'RS512']) {
    verifies('as.client-assertion', `is refused by an assertion signed with ${alg}`, async () => {
      const pair = await generateKeyPair(alg, { extractable: true });
      const { attempt } = setUp({ keySets: [await keySet([pair])] });
      await expect(attempt(await assertion(pair, { header: { alg } }))).rejects.toMatchObject({
        code: 'invalid_client',
      });
    });
  }

  verifies('as.client-assertion', 'is refused by an assertion without a signature', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    const { attempt } = setUp({ keySets: [await keySet([pair])] });
    const form = {
      client_assertion: new UnsecuredJWT(assertionClaims()).encode(),
      client_assertion_type: ASSERTION_TYPE,
    };
    await expect(attempt({ form })).rejects.toMatchObject({ code: 'invalid_client' });
  });

  verifies('as.client-assertion', 'is refused by an assertion that was used before', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    const { attempt } = setUp({ keySets: [await keySet([pair])] });
    const used = await assertion(pair);
    await attempt(used);
    await expect(attempt(used)).rejects.toMatchObject({ code: 'invalid_client' });
    expect(await attempt(await assertion(pair, { claims: { jti: 'jti-2' } }))).toEqual(SIGNER);
  });

  verifies(
    'as.client-assertion',
    'is authenticated once by an assertion that concurrent requests use',
    async () => {
      const pair = await generateKeyPair('ES256', { extractable: true });
      const { attempt } = setUp({ keySets: [await keySet([pair])] });
      const used = await assertion(pair);
      const outcomes = await Promise.allSettled([attempt(used), attempt(used), attempt(used)]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    },
  );

  test('keeps an id usable after an assertion with it that another party signed', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    const stranger = await generateKeyPair('ES256', { extractable: true });
    const { attempt } = setUp({ keySets: [await keySet([pair])] });
    await expect(attempt(await assertion(stranger))).rejects.toMatchObject({
      code: 'invalid_client',
    });
    expect(await attempt(await assertion(pair))).toEqual(SIGNER);
  });

  test('is authenticated by the key that the assertion names, and by no other of several', async () => {
    const pairs = await Promise.all([
      generateKeyPair('ES256', { extractable: true }),
      generateKeyPair('ES256', { extractable: true }),
    ]);
    const { keys } = await keySet(pairs);
    const named = { keys: keys.map((key, index) => ({ ...key, kid: `key-${String(index)}` })) };
    const { attempt } = setUp({ keySets: [named] });
    const by = (kid?: string): ReturnType<typeof assertion> =>
      assertion(pairs[1], { header: kid === undefined ? {} : { kid } });
    for (const kid of [undefined, 'key-0', 'key-2']) {
      await expect(attempt(await by(kid))).rejects.toMatchObject({ code: 'invalid_client' });
    }
    expect(await attempt(await by('key-1'))).toEqual(SIGNER);
  });

  test('is refused without the name of a key, although only one of several keys could fit', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    const other = await generateKeyPair('RS256', { extractable: true });
    const { keys } = await keySet([pair, other]);
    const named = { keys: keys.map((key, index) => ({ ...key, kid: `key-${String(index)}` })) };
    const { attempt } = setUp({ keySets: [named] });
    await expect(attempt(await assertion(pair))).rejects.toMatchObject({ code: 'invalid_client' });
    const header = { kid: 'key-0' };
    expect(await attempt(await assertion(pair, { header }))).toEqual(SIGNER);
  });

  // Attack: strangers register clients, and fill the store of used ids with their assertions.
  test('is refused before its keys are read while no user has approved it', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    const { attempt, keyRequests } = setUp({ keySets: [await keySet([pair])] });
    const claims = { iss: UNAPPROVED.id, sub: UNAPPROVED.id };
    await expect(attempt(await assertion(pair, { claims }))).rejects.toMatchObject({
      code: 'invalid_client',
    });
    expect(keyRequests).toHaveLength(0);
  });

  // Attack: anyone can send assertions in the name of a client, and verifying takes time.
  test('has every attempt counted before its keys are read or a signature is verified', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    let attempts = 0;
    const beforeVerifying = (): Promise<void> => {
      attempts += 1;
      return attempts > 1 ? Promise.reject(new TooManyRequestsError(60)) : Promise.resolve();
    };
    const { attempt, keyRequests } = setUp({ keySets: [await keySet([pair])], beforeVerifying });
    const forged = await assertion(await generateKeyPair('ES256'));
    await expect(attempt(forged)).rejects.toMatchObject({ code: 'invalid_client' });
    const readBefore = keyRequests.length;
    await expect(attempt(await assertion(pair))).rejects.toMatchObject({ status: 429 });
    expect(keyRequests).toHaveLength(readBefore);
  });

  test('is authenticated by a key that it published after its keys were fetched', async () => {
    const [old, current] = await Promise.all([
      generateKeyPair('ES256', { extractable: true }),
      generateKeyPair('ES256', { extractable: true }),
    ]);
    const { attempt, keyRequests } = setUp({
      keySets: [await keySet([old]), await keySet([current])],
    });
    expect(await attempt(await assertion(current))).toEqual(SIGNER);
    expect(keyRequests).toEqual([undefined, 60]);
  });

  test('does not have its keys fetched again for an assertion that is merely expired', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    const { attempt, keyRequests } = setUp({ keySets: [await keySet([pair])] });
    const expired = await assertion(pair, { claims: { exp: NOW_SECONDS - 60 } });
    await expect(attempt(expired)).rejects.toMatchObject({ code: 'invalid_client' });
    expect(keyRequests).toEqual([undefined]);
  });

  const TWO_WAYS: readonly (readonly [
    string,
    Omit<Attempt, 'form'>,
    Readonly<Record<string, string>>,
  ])[] = [
    ['with a posted secret too', {}, { client_id: 'signer', client_secret: 's' }],
    ['with Basic too', { authorization: basic('signer', 's') }, {}],
    ['under another name', {}, { client_id: 'public' }],
  ];

  for (const [title, header, form] of TWO_WAYS) {
    verifies('as.client-authentication', `is refused ${title}`, async () => {
      const pair = await generateKeyPair('ES256', { extractable: true });
      const { attempt } = setUp({ keySets: [await keySet([pair])] });
      const signed = await assertion(pair);
      await expect(attempt({ ...header, form: { ...signed.form, ...form } })).rejects.toMatchObject(
        {
          code: 'invalid_request',
        },
      );
    });
  }

  for (const id of ['public', 'basic']) {
    verifies(
      'as.client-authentication',
      `cannot be a client registered otherwise (${id})`,
      async () => {
        const pair = await generateKeyPair('ES256', { extractable: true });
        const { attempt } = setUp({ keySets: [await keySet([pair])] });
        await expect(
          attempt(await assertion(pair, { claims: { iss: id, sub: id } })),
        ).rejects.toMatchObject({ code: 'invalid_client' });
      },
    );
  }
});
