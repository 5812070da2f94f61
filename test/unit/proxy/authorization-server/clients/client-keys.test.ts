import { describe, expect, test } from '@jest/globals';

import { createClientKeysReader } from '../../../../../proxy/authorization-server/clients/client-keys.ts';
import type { ClientMetadata } from '../../../../../proxy/records/client.ts';
import type { GuardedFetch } from '../../../../../proxy/outbound/guarded-fetch.ts';
import {
  OutboundFailedError,
  OutboundRefusedError,
} from '../../../../../proxy/outbound/outbound-errors.ts';
import { verifies } from '../../../../requirements/verifies.ts';

const JWKS_URI = 'https://keys.client.example/jwks';
/** The example of RFC 7517, appendix A.1. */
const KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
};
const TWO_KEYS = [
  { ...KEY, kid: 'one' },
  { ...KEY, kid: 'two' },
];
const SETTINGS = {
  allowedClientIdDomains: ['*.client.example'],
  outboundAllowedCidrs: ['10.1.0.0/16'],
};
const KEYLESS: ClientMetadata = {
  redirectUris: ['https://client.example/callback'],
  tokenEndpointAuthMethod: 'private_key_jwt',
  grantTypes: ['authorization_code'],
};
const METADATA: ClientMetadata = { ...KEYLESS, jwksUri: JWKS_URI };

type Answer = Error | { readonly status?: number; readonly type?: string; readonly body: unknown };

/** A fetch that returns one response after the other. */
function setUp(...answers: readonly Answer[]) {
  let now = 0;
  const fetched: Parameters<GuardedFetch>[] = [];
  const guardedFetch: GuardedFetch = (...call) => {
    const answer = answers[fetched.length] ?? new Error('not expected');
    fetched.push(call);
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve({
      status: answer.status ?? 200,
      headers: { 'content-type': answer.type ?? 'application/json' },
      body: Buffer.from(
        typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body),
      ),
    });
  };
  const readClientKeys = createClientKeysReader({ guardedFetch, now: () => now });
  const advance = (seconds: number): void => {
    now += seconds * 1000;
  };
  return { readClientKeys, fetched, advance };
}

describe('keys of a client', () => {
  test('by value are those it registered', async () => {
    const { readClientKeys, fetched } = setUp();
    const jwks = { keys: [KEY] };
    expect(await readClientKeys({ ...KEYLESS, jwks }, SETTINGS)).toEqual(jwks);
    expect(fetched).toEqual([]);
  });

  test('by value are checked again, since they may have been registered under older rules', async () => {
    const jwks = { keys: [KEY, KEY] };
    await expect(setUp().readClientKeys({ ...KEYLESS, jwks }, SETTINGS)).rejects.toMatchObject({
      code: 'invalid_client',
    });
  });

  verifies(
    'as.client-keys-guarded',
    'by address are fetched by the guarded fetch, once in five minutes',
    async () => {
      const { readClientKeys, fetched, advance } = setUp(
        { body: { keys: [KEY] } },
        { body: { keys: TWO_KEYS } },
      );
      expect(await readClientKeys(METADATA, SETTINGS)).toEqual({ keys: [KEY] });
      advance(299);
      expect(await readClientKeys(METADATA, SETTINGS)).toEqual({ keys: [KEY] });
      expect(fetched).toEqual([
        [JWKS_URI, expect.objectContaining({ allowedCidrs: ['10.1.0.0/16'], maxBytes: 65_536 })],
      ]);
      advance(1);
      expect(await readClientKeys(METADATA, SETTINGS)).toEqual({ keys: TWO_KEYS });
    },
  );

  verifies(
    'as.client-keys-guarded',
    'are not fetched from a domain that has ceased to be allowed',
    async () => {
      const { readClientKeys, fetched } = setUp();
      await expect(
        readClientKeys(METADATA, { ...SETTINGS, allowedClientIdDomains: [] }),
      ).rejects.toMatchObject({ code: 'invalid_client' });
      expect(fetched).toEqual([]);
    },
  );

  test('stay usable during an outage of their server', async () => {
    const { readClientKeys, advance } = setUp(
      { body: { keys: [KEY] } },
      new OutboundFailedError('connection', 'down'),
    );
    await readClientKeys(METADATA, SETTINGS);
    advance(300);
    expect(await readClientKeys(METADATA, SETTINGS)).toEqual({ keys: [KEY] });
  });

  test.each<[string, Answer, string]>([
    [
      'the server is down',
      new OutboundFailedError('connection', 'down'),
      'temporarily_unavailable',
    ],
    ['the server is slow', new OutboundFailedError('timeout', 'slow'), 'temporarily_unavailable'],
    ['the server is in trouble', { status: 503, body: {} }, 'temporarily_unavailable'],
    ['the address is refused', new OutboundRefusedError('address', 'private'), 'invalid_client'],
    ['the answer is too long', new OutboundFailedError('too-large', 'long'), 'invalid_client'],
    ['there is none', { status: 404, body: {} }, 'invalid_client'],
    ['the server redirects', { status: 302, body: { keys: [KEY] } }, 'invalid_client'],
    ['it is no JSON', { type: 'text/html', body: { keys: [KEY] } }, 'invalid_client'],
    ['it is no key set', { body: [KEY] }, 'invalid_client'],
    ['it has no keys', { body: { keys: [] } }, 'invalid_client'],
    [
      'it has two members with one name',
      { body: `{"keys":[],"keys":[${JSON.stringify(KEY)}]}` },
      'invalid_client',
    ],
    ['it has a private key', { body: { keys: [{ ...KEY, d: 'd' }] } }, 'invalid_client'],
  ])('cannot be read when %s', async (_title, answer, code) => {
    const { readClientKeys } = setUp(answer);
    await expect(readClientKeys(METADATA, SETTINGS)).rejects.toMatchObject({ code });
  });

  test('cannot be read from a client that has none', async () => {
    await expect(setUp().readClientKeys(KEYLESS, SETTINGS)).rejects.toMatchObject({
      code: 'invalid_client',
    });
  });
});
