import { beforeAll, describe, expect, test } from '@jest/globals';

import type { TokenExpectation } from '../../../../proxy/token-verification/token-verifier.ts';
import {
  issuerKey,
  providerWithKeys,
  signToken,
  type IssuerKey,
} from '../../../support/token-issuer.ts';
import { ALICE, verdictOn } from '../../../support/token-verdict.ts';

let key: IssuerKey;
let other: IssuerKey;

beforeAll(async () => {
  key = await issuerKey();
  other = await issuerKey('key-2');
});

type Claims = Readonly<Record<string, unknown>>;

const ID_TOKEN = { format: 'idp_identity_token' } as const;
const ACCESS_TOKEN = { format: 'idp_access_token' } as const;
const FOR_API = { ...ACCESS_TOKEN, allowedAudiences: ['api', 'other-api'] };

describe('an identity token', () => {
  test.each<readonly [string, Claims, Claims, string]>([
    ['of several audiences with azp', { aud: ['gateway', 'b'], azp: 'gateway' }, {}, ALICE],
    ['of several audiences without azp', { aud: ['gateway', 'b'] }, {}, 'other-client'],
    ['of several audiences, of another', { aud: ['gateway', 'b'], azp: 'b' }, {}, 'other-client'],
    ['of one audience, of another', { azp: 'b' }, {}, 'other-client'],
    ['without the time of issue', { iat: undefined }, {}, 'incomplete-claims'],
    ['that is an access token', {}, { typ: 'at+jwt' }, 'wrong-token-type'],
    ['with a scope', { scope: 'openid' }, {}, 'wrong-token-type'],
    ['that signs a user out', { events: {} }, {}, 'wrong-token-type'],
    ['with a nonce', { nonce: 'n' }, {}, ALICE],
  ])('%s', async (_name, claims, header, expected) => {
    const token = await signToken(key, claims, header);

    expect(await verdictOn(token, ID_TOKEN, providerWithKeys([key]))).toBe(expected);
  });

  test.each(['', 'opaque', 'a.b.c', '..', 'a.b.c.d.e'])('is not the text %j', async (text) => {
    expect(await verdictOn(text, ID_TOKEN, providerWithKeys([key]))).toBe('malformed-token');
  });
});

describe('a JWT access token', () => {
  const AT = { typ: 'at+jwt' };

  test.each<readonly [string, Claims, TokenExpectation, string]>([
    ['for the own client', { aud: 'gateway' }, ACCESS_TOKEN, ALICE],
    ['for several, with the own client', { aud: ['b', 'gateway'] }, ACCESS_TOKEN, ALICE],
    ['issued to the own client', { aud: 'api', client_id: 'gateway' }, ACCESS_TOKEN, ALICE],
    ['with the own client as azp', { aud: 'api', azp: 'gateway' }, ACCESS_TOKEN, ALICE],
    ['of another client', { aud: 'api', client_id: 'b' }, ACCESS_TOKEN, 'other-client'],
    ['of nobody', { aud: undefined }, ACCESS_TOKEN, 'unbound-token'],
    ['for an allowed audience', { aud: 'api' }, FOR_API, ALICE],
    ['for several, one of them allowed', { aud: ['b', 'other-api'] }, FOR_API, ALICE],
    ['for others', { aud: ['b', 'c'] }, FOR_API, 'wrong-audience'],
    ['of the own client for others', { aud: 'b', azp: 'gateway' }, FOR_API, 'wrong-audience'],
    ['for nobody where there is a list', { aud: undefined }, FOR_API, 'no-audience'],
    ['for an empty list', { aud: [] }, FOR_API, 'no-audience'],
  ])('%s', async (_name, claims, expected, result) => {
    const token = await signToken(key, claims, AT);

    expect(await verdictOn(token, expected, providerWithKeys([key]))).toBe(result);
  });

  test.each(['at+jwt', 'AT+JWT', 'application/at+jwt'])('has typ %s', async (typ) => {
    expect(
      await verdictOn(await signToken(key, {}, { typ }), ACCESS_TOKEN, providerWithKeys([key])),
    ).toBe(ALICE);
  });

  test.each(['JWT', 'application/jwt', undefined])(
    'with typ %s counts only at a provider with accessTokenType',
    async (typ) => {
      const token = await signToken(key, { scope: 'read' }, { typ });
      const provider = providerWithKeys([key]);

      expect(await verdictOn(token, ACCESS_TOKEN, provider)).toBe('wrong-token-type');
      expect(await verdictOn(token, ACCESS_TOKEN, { ...provider, accessTokenType: 'jwt' })).toBe(
        ALICE,
      );
    },
  );

  test.each<readonly [string, Claims]>([
    ['with a nonce', { scope: 'openid', nonce: 'n' }],
    ['with the hash of an access token', { scope: 'openid', at_hash: 'h' }],
    ['with the hash of a code', { scope: 'openid', c_hash: 'h' }],
    ['with nothing that it permits', {}],
    ['with nothing that it permits, of the own client', { azp: 'gateway', client_id: 'gateway' }],
    ['that signs a user out', { scope: 'openid', events: {} }],
  ])('without its own type is never a token %s', async (_name, claims) => {
    const provider = providerWithKeys([key], { accessTokenType: 'jwt' });

    expect(await verdictOn(await signToken(key, claims), ACCESS_TOKEN, provider)).toBe(
      'wrong-token-type',
    );
  });
});

describe('the format jwt', () => {
  const JWT = { format: 'jwt' } as const;
  const cluster = { name: 'cluster', issuer: 'https://cluster.example', audiences: ['mcp', 'b'] };

  test('selects the provider by the issuer', async () => {
    const providers = [
      providerWithKeys([key], { audiences: ['gateway'] }),
      providerWithKeys([other], cluster),
    ];
    const token = await signToken(other, { iss: cluster.issuer, aud: ['mcp'] });

    expect(await verdictOn(token, JWT, ...providers)).toBe('cluster: alice');
  });

  test('accepts no audience and no key of another provider', async () => {
    const providers = [
      providerWithKeys([key], { audiences: ['gateway'] }),
      providerWithKeys([other], cluster),
    ];

    const forOther = await signToken(other, { iss: cluster.issuer, aud: 'gateway' });
    expect(await verdictOn(forOther, JWT, ...providers)).toBe('wrong-audience');
    const ofOther = await signToken(key, { iss: cluster.issuer, aud: 'mcp' });
    expect(await verdictOn(ofOther, JWT, ...providers)).toBe('unknown-key');
  });

  test('accepts no security event, such as a request to sign a user out', async () => {
    const provider = providerWithKeys([key], { audiences: ['gateway'] });

    expect(await verdictOn(await signToken(key, { events: {} }), JWT, provider)).toBe(
      'wrong-token-type',
    );
  });

  test.each(['RS256', 'RS512', 'PS384', 'ES384', 'ES512', 'EdDSA', 'Ed25519'])(
    'accepts signatures of %s',
    async (algorithm) => {
      const signer = await issuerKey('signer', algorithm);
      const provider = providerWithKeys([signer], { audiences: ['gateway'] });

      expect(await verdictOn(await signToken(signer), JWT, provider)).toBe(ALICE);
    },
  );

  test('accepts no token of a provider without audiences', async () => {
    expect(await verdictOn(await signToken(key), JWT, providerWithKeys([key]))).toBe(
      'unknown-issuer',
    );
  });
});

test('a token is refused if its provider is not configured', async () => {
  const expected = { format: 'idp_access_token', provider: 'gone' } as const;

  expect(await verdictOn(await signToken(key), expected, providerWithKeys([key]))).toBe(
    'unknown-issuer',
  );
});
