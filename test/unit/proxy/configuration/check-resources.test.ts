import { generateKeyPairSync } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import { checkResources } from '../../../../proxy/configuration/check-resources.ts';
import type { Criterion } from '../../../../shared/policy/policy.ts';
import type { CompiledResource } from '../../../../shared/snapshot/snapshot.ts';
import {
  aCompiledCertificate,
  aCompiledRoute,
  aCompiledService,
  AN_IDENTITY_PROVIDER,
  aResource,
} from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';
import { anOrigin } from '../../../support/an-origin.ts';

function signingKeys(privateKey: string): CompiledResource {
  return { kind: 'signing-keys', keys: [{ keyId: 'k1', algorithm: 'ES256', privateKey }] };
}

const EC_KEY = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;

const RSA_KEY = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;

describe('the resources of a snapshot', () => {
  test('are all accepted if they can be served', async () => {
    const values: readonly CompiledResource[] = [
      compiledSettings({ trustedProxies: ['10.0.0.0/8'], outboundAllowedCidrs: ['fd00::/8'] }),
      signingKeys(EC_KEY),
      AN_IDENTITY_PROVIDER,
      aCompiledRoute({ path: { kind: 'regex', value: '/files/\\d+' } }),
      aCompiledService('a/b', ['10.0.0.1:8080', '[fd00::1]:8080']),
      aCompiledCertificate(),
    ];
    expect(await checkResources(values.map(aResource))).toEqual([]);
  });

  test.each<[what: string, CompiledResource]>([
    ['trusted proxies', compiledSettings({ trustedProxies: ['10.0.0.0/99'] })],
    ['allowed networks', compiledSettings({ outboundAllowedCidrs: ['somewhere'] })],
    ['a sign-in host', compiledSettings({ authenticateOrigin: anOrigin('https://[') })],
    ['a key that is none', signingKeys('secret words')],
    ['a key of another kind', signingKeys(RSA_KEY)],
    ['an issuer', { ...AN_IDENTITY_PROVIDER, issuer: 'nobody' }],
    ['a regular expression', aCompiledRoute({ path: { kind: 'regex', value: '(' } })],
    ['an upstream', aCompiledRoute({ upstream: 'http://' })],
    [
      'a criterion of another release',
      aCompiledRoute(withCriterion({ kind: 'phase_of_the_moon' })),
    ],
    ['a certificate', { ...aCompiledCertificate(), certificate: 'somewhere' }],
    [
      'the key of another certificate',
      { ...aCompiledCertificate(), privateKey: aCompiledCertificate().privateKey },
    ],
    ['a target without a port', aCompiledService('a/b', ['10.0.0.1'])],
    ['a target with more than that', aCompiledService('a/b', ['10.0.0.1:80/x'])],
    ['a target with an impossible port', aCompiledService('a/b', ['10.0.0.1:99999'])],
  ])('are rejected by key, and the others are accepted: %s', async (_what, value) => {
    const good = aResource(aCompiledRoute({ name: 'default/good' }));
    const bad = aResource(value);
    const faults = await checkResources([good, bad, good]);
    expect(faults).toEqual([{ key: bad.key, message: expect.any(String) }]);
  });

  test('are rejected without the private key in the message', async () => {
    const unreadable = { ...aCompiledCertificate(), privateKey: 'secret words' };
    const faults = await checkResources([
      aResource(signingKeys('secret words')),
      aResource(unreadable),
    ]);
    expect(faults.map(({ message }) => message)).toEqual([
      'the key "k1" is not a private key for ES256',
      'the key does not belong to the certificate, or one of them cannot be read',
    ]);
  });
});

function withCriterion(criterion: {
  readonly kind: string;
}): Partial<ReturnType<typeof aCompiledRoute>> {
  // What a newer controller may say.
  const policy = { allow: { and: [criterion as Criterion] } };
  return { access: { kind: 'policy', policy } };
}
