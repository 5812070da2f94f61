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

import { hashToken } from '../../../../../proxy/crypto/tokens.ts';
import {
  AuthorizationPageError,
  ClientIdDomainNotAllowedError,
} from '../../../../../proxy/errors/authorization-page-errors.ts';
import { authenticateClient } from '../../../../../proxy/authorization-server/clients/authenticate-client.ts';
import type { Client, ClientKeySet, ClientMetadata } from '../../../../../proxy/records/client.ts';
import { MetadataDocumentError } from '../../../../../proxy/authorization-server/clients/metadata-document-error.ts';
import { createMemoryStores } from '../../../../../proxy/store/memory/memory-stores.ts';
import { compiledSettings } from '../../../../support/compiled-settings.ts';
import { verifies } from '../../../../requirements/verifies.ts';

const ISSUER = 'https://mcp.example.com';
const TOKEN_ENDPOINT = `${ISSUER}/.gateway/mcp/token`;
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const NOW = Date.parse('2026-11-21T12:00:00Z');
const NOW_SECONDS = NOW / 1000;

function client(id: string, metadata: Partial<ClientMetadata>, secret?: string): Client {
  return {
    id,
    source: 'registration',
    metadata: {
      redirectUris: ['https://client.example/callback'],
      tokenEndpointAuthMethod: 'none',
      grantTypes: ['authorization_code'],
      ...metadata,
    },
    ...(secret === undefined ? {} : { secretHash: hashToken(secret) }),
  };
}

const PUBLIC = client('public', {});
const BASIC = client('basic', { tokenEndpointAuthMethod: 'client_secret_basic' }, 's3cret');
const POST = client('post', { tokenEndpointAuthMethod: 'client_secret_post' }, 's3cret');
const SIGNER = client('signer', { tokenEndpointAuthMethod: 'private_key_jwt' });
/** Has a secret, and is not registered for using it. */
const TURNED = client('turned', { tokenEndpointAuthMethod: 'none' }, 's3cret');
const SECRETLESS = client('secretless', { tokenEndpointAuthMethod: 'client_secret_basic' });

function basic(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
}

interface Attempt {
  readonly authorization?: string;
  readonly form?: Readonly<Record<string, string>> | string;
}

function setUp({ keySets = [] as readonly ClientKeySet[] } = {}) {
  const clients = [PUBLIC, BASIC, POST, SIGNER, TURNED, SECRETLESS];
  const { replays, rateLimits } = createMemoryStores(() => NOW);
  const keyRequests: (number | undefined)[] = [];
  const attempt = ({ authorization, form = {} }: Attempt): Promise<Client> =>
    authenticateClient(
      {
        issuer: ISSUER,
        tokenEndpointUrl: TOKEN_ENDPOINT,
        authorization,
        form: new URLSearchParams(form),
        settings: compiledSettings(),
      },
      {
        findClient: (issuer, clientId) =>
          Promise.resolve(
            issuer === ISSUER ? (clients.find(({ id }) => id === clientId) ?? null) : null,
          ),
        readClientKeys: (_metadata, _settings, options) => {
          keyRequests.push(options?.maxAgeSeconds);
          const keys = keySets[keyRequests.length - 1] ?? keySets.at(-1);
          return Promise.resolve(keys ?? { keys: [] });
        },
        replays,
        rateLimits,
        now: () => NOW,
      },
    );
  return { attempt, keyRequests };
}

describe('a client is taken for who it is', () => {
  const PROVEN: readonly (readonly [string, Attempt, Client])[] = [
    ['by its id alone, when it is public', { form: { client_id: 'public' } }, PUBLIC],
    ['by Basic', { authorization: basic('basic', 's3cret') }, BASIC],
    ['by a posted secret', { form: { client_id: 'post', client_secret: 's3cret' } }, POST],
    [
      'by a posted secret in place of Basic',
      { form: { client_id: 'basic', client_secret: 's3cret' } },
      BASIC,
    ],
    ['by Basic in place of a posted secret', { authorization: basic('post', 's3cret') }, POST],
    ['by form-urlencoded Basic', { authorization: basic('b%61sic', '%733cret') }, BASIC],
    [
      'by Basic with the same id in the form',
      { authorization: basic('basic', 's3cret'), form: { client_id: 'basic' } },
      BASIC,
    ],
    // RFC 6749, section 3.2: a parameter without a value counts as absent.
    [
      'though it sends an empty secret',
      { form: { client_id: 'public', client_secret: '' } },
      PUBLIC,
    ],
  ];

  for (const [title, attempt, expected] of PROVEN) {
    verifies('as.client-authentication', title, async () => {
      expect(await setUp().attempt(attempt)).toEqual(expected);
    });
  }
});

describe('a client is refused', () => {
  const UNPROVEN: readonly (readonly [string, Attempt])[] = [
    ['without a name', {}],
    ['when it is unknown', { form: { client_id: 'unknown' } }],
    ['when it is unknown, by Basic', { authorization: basic('unknown', 's3cret') }],
    ['with a wrong secret, by Basic', { authorization: basic('basic', 'wrong') }],
    ['with a wrong posted secret', { form: { client_id: 'post', client_secret: 'wrong' } }],
    ['with an empty secret, by Basic', { authorization: basic('basic', '') }],
    ['with the hash of its secret', { authorization: basic('basic', hashToken('s3cret')) }],
    ['without its secret', { form: { client_id: 'basic' } }],
    ['without its secret, when that is posted', { form: { client_id: 'post' } }],
    ['without its key', { form: { client_id: 'signer' } }],
    ['with a secret, when it is public', { authorization: basic('public', 's3cret') }],
    ['with an empty secret by Basic, when it is public', { authorization: basic('public', '') }],
    ['with its secret, when it is public', { authorization: basic('turned', 's3cret') }],
    ['with a secret, when it has a key', { authorization: basic('signer', 's3cret') }],
    ['with any secret, when none was issued', { authorization: basic('secretless', 'undefined') }],
    ['with a secret but no name', { form: { client_secret: 's3cret' } }],
    ['with a bearer token', { authorization: 'Bearer abc', form: { client_id: 'public' } }],
    [
      'with malformed Basic credentials',
      { authorization: 'Basic !', form: { client_id: 'public' } },
    ],
    ['with an assertion without a type', { form: { client_assertion: 'a.b.c' } }],
    [
      'with an assertion of another type',
      {
        form: {
          client_assertion: 'a.b.c',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer',
        },
      },
    ],
    ['with a type but no assertion', { form: { client_assertion_type: ASSERTION_TYPE } }],
    [
      'with an assertion that is no JWT',
      { form: { client_assertion: 'nonsense', client_assertion_type: ASSERTION_TYPE } },
    ],
  ];

  for (const [title, attempt] of UNPROVEN) {
    verifies('as.client-authentication', title, async () => {
      await expect(setUp().attempt(attempt)).rejects.toMatchObject({
        name: 'InvalidClientError',
        code: 'invalid_client',
        status: 401,
      });
    });
  }

  const AMBIGUOUS: readonly (readonly [string, Attempt])[] = [
    [
      'with Basic and a posted secret',
      {
        authorization: basic('basic', 's3cret'),
        form: { client_id: 'basic', client_secret: 's3cret' },
      },
    ],
    [
      'with Basic for one client and the id of another',
      { authorization: basic('basic', 's3cret'), form: { client_id: 'public' } },
    ],
    ['with a repeated client_id', { form: 'client_id=public&client_id=basic' }],
    [
      'with a repeated client_secret',
      { form: 'client_id=post&client_secret=a&client_secret=s3cret' },
    ],
  ];

  for (const [title, attempt] of AMBIGUOUS) {
    verifies('as.client-authentication', `as a malformed request ${title}`, async () => {
      await expect(setUp().attempt(attempt)).rejects.toMatchObject({
        name: 'InvalidRequestError',
        code: 'invalid_request',
      });
    });
  }
});

describe('a client named by a URL', () => {
  const clientId = 'https://client.example/metadata.json';

  test.each<[string, Error, string, number]>([
    [
      'is unknown when its domain is not allowed',
      new ClientIdDomainNotAllowedError(clientId),
      'invalid_client',
      401,
    ],
    [
      'is unknown when its document is not valid',
      new MetadataDocumentError('invalid', 'no'),
      'invalid_client',
      401,
    ],
    [
      'is unknown when the page says so',
      new AuthorizationPageError('reason', 'no'),
      'invalid_client',
      401,
    ],
    [
      'is asked to come again when its server is down, and keeps its tokens',
      new MetadataDocumentError('unavailable', 'no'),
      'temporarily_unavailable',
      503,
    ],
  ])('%s', async (_title, cause, code, status) => {
    const { replays, rateLimits } = createMemoryStores();
    const attempt = authenticateClient(
      {
        issuer: ISSUER,
        tokenEndpointUrl: TOKEN_ENDPOINT,
        authorization: undefined,
        form: new URLSearchParams({ client_id: clientId }),
        settings: compiledSettings(),
      },
      {
        findClient: () => Promise.reject(cause),
        readClientKeys: () => Promise.reject(new Error('not expected')),
        replays,
        rateLimits,
        now: () => NOW,
      },
    );
    await expect(attempt).rejects.toMatchObject({ code, status, cause });
  });
});

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

  // A stranger's client fills the store of used ids until nobody's assertion is accepted.
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
    'is let in once by an assertion that is used many times at once',
    async () => {
      const pair = await generateKeyPair('ES256', { extractable: true });
      const { attempt } = setUp({ keySets: [await keySet([pair])] });
      const used = await assertion(pair);
      const outcomes = await Promise.allSettled([attempt(used), attempt(used), attempt(used)]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    },
  );

  test('does not use up an id by an assertion that somebody else signed', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    const stranger = await generateKeyPair('ES256', { extractable: true });
    const { attempt } = setUp({ keySets: [await keySet([pair])] });
    await expect(attempt(await assertion(stranger))).rejects.toMatchObject({
      code: 'invalid_client',
    });
    expect(await attempt(await assertion(pair))).toEqual(SIGNER);
  });

  test('is found by any of several keys without ids', async () => {
    const pairs = await Promise.all([
      generateKeyPair('ES256', { extractable: true }),
      generateKeyPair('ES256', { extractable: true }),
    ]);
    const { attempt } = setUp({ keySets: [await keySet(pairs)] });
    expect(await attempt(await assertion(pairs[1]))).toEqual(SIGNER);
  });

  test('is found by a key it got since its keys were fetched', async () => {
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
