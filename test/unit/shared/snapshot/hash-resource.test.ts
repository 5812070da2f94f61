import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { hashResource, snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import type { CompiledIdentityProvider } from '../../../../shared/snapshot/snapshot.ts';

const PROVIDER: CompiledIdentityProvider = {
  kind: 'identity-provider',
  name: 'idp',
  issuer: 'https://idp.example.com',
  signIn: true,
  clientId: 'gatehouse',
  scopes: ['openid', 'email'],
  authorizationParams: { prompt: 'login', hd: 'example.com' },
};

const anyParams = fc.dictionary(fc.string(), fc.string());

function hashWith(params: Readonly<Record<string, string>>): string {
  return hashResource('key', { ...PROVIDER, authorizationParams: params }).hash;
}

describe('the hash of a resource', () => {
  test('ignores the order of keys', () => {
    const shuffled = anyParams.chain((params) =>
      fc.tuple(
        fc.constant(params),
        fc
          .shuffledSubarray(Object.entries(params), { minLength: Object.keys(params).length })
          .map((entries) => Object.fromEntries(entries)),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([params, other]) => {
        expect(hashWith(other)).toBe(hashWith(params));
      }),
    );
  });

  test('survives serialization', () => {
    fc.assert(
      fc.property(anyParams, (params) => {
        const copy = JSON.parse(JSON.stringify(params)) as Readonly<Record<string, string>>;

        expect(hashWith(copy)).toBe(hashWith(params));
      }),
    );
  });

  test('differs for different values, and for lists in a different order', () => {
    const hashes = [
      PROVIDER,
      { ...PROVIDER, issuer: 'https://other.example.com' },
      { ...PROVIDER, clientSecret: '' },
      { ...PROVIDER, scopes: ['email', 'openid'] },
    ].map((value) => hashResource('key', value).hash);

    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

describe('a snapshot', () => {
  const keys = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 8 });

  test('has a version that ignores the order of its resources', () => {
    const orders = keys.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
      ),
    );
    fc.assert(
      fc.property(orders, ([list, other]) => {
        const of = (names: readonly string[]): string =>
          snapshotOf(names.map((key) => hashResource(key, PROVIDER))).version;

        expect(of(other)).toBe(of(list));
      }),
    );
  });

  test('has its resources by key', () => {
    const resource = hashResource('identity-provider/idp', PROVIDER);

    expect(snapshotOf([resource]).resources).toEqual(new Map([[resource.key, resource]]));
  });
});
