import { describe, expect, test } from '@jest/globals';

import {
  parseClusterIssuer,
  type IssuerDocuments,
} from '../../../../controller/kubernetes/parse-cluster-issuer.ts';

const KEY = { use: 'sig', kty: 'RSA', kid: 'a', alg: 'RS256', n: 'modulus', e: 'AQAB' };
const DOCUMENTS: IssuerDocuments = {
  discovery: { issuer: 'https://cluster.example' },
  keySet: { keys: [KEY] },
  ownToken: undefined,
};

function tokenWith(claims: object): string {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
}

describe('the issuer of a cluster', () => {
  test('has the public members of the keys that have a name', () => {
    const curve = { kty: 'EC', kid: 'b', crv: 'P-256', x: 'x', y: 'y' };
    const others = [
      { ...KEY, kid: undefined },
      { ...KEY, kty: 'oct', k: 'secret' },
      'no key',
      null,
    ];
    const keySet = { keys: [{ ...KEY, d: 'private' }, ...others, curve] };
    const { issuer, keys } = parseClusterIssuer({ ...DOCUMENTS, keySet });

    expect(issuer).toBe('https://cluster.example');
    expect(keys).toEqual([{ kty: 'RSA', kid: 'a', alg: 'RS256', n: 'modulus', e: 'AQAB' }, curve]);
  });

  test.each<[string, Partial<IssuerDocuments>, string]>([
    [
      'no discovery document',
      { discovery: 'page' },
      'its discovery document names no https issuer',
    ],
    [
      'an issuer that is not https',
      { discovery: { issuer: 'http://cluster.example' } },
      'its discovery document names no https issuer',
    ],
    ['no key', { keySet: { keys: [] } }, 'its key set has no key'],
    ['no list of keys', { keySet: { keys: KEY } }, 'its key set has no key'],
    [
      'too many keys',
      { keySet: { keys: Array.from({ length: 65 }, () => KEY) } },
      'its key set has too many keys',
    ],
  ])('cannot be used with %s', (_title, change, message) => {
    expect(() => parseClusterIssuer({ ...DOCUMENTS, ...change })).toThrow(message);
  });

  // Attack: tokens that every pod has, for the API server, would open routes.
  test('has the audiences of its API server: the issuer, its Service, and those of our own token', () => {
    const ownToken = tokenWith({ aud: ['https://api.example', 'k3s', 5] });
    const { apiAudiences } = parseClusterIssuer({ ...DOCUMENTS, ownToken });

    expect(apiAudiences).toEqual(
      expect.arrayContaining([
        ...['https://cluster.example', 'https://kubernetes.default.svc'],
        ...['https://api.example', 'k3s'],
      ]),
    );
  });

  test.each([undefined, 'opaque', tokenWith({}), 'a.%%%.c'])(
    'needs no token of our own with audiences, as %j',
    (ownToken) => {
      const { apiAudiences } = parseClusterIssuer({ ...DOCUMENTS, ownToken });

      expect(apiAudiences).toContain('https://cluster.example');
    },
  );
});
