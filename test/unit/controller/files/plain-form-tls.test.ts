import { describe, expect, test } from '@jest/globals';

import { createThrowawayAuthority } from '../../../support/throwaway-authority.ts';
import { readPlainForm } from './read-plain-form.ts';

const authority = createThrowawayAuthority();
const { cert, key } = authority.issue(['a.example']);
const FILES = {
  '/etc/gatehouse/tls/cert.pem': cert,
  '/etc/gatehouse/tls/key.pem': key,
  '/etc/gatehouse/ca.pem': authority.ca,
};
const PAIR = '{cert_file: tls/cert.pem, key_file: tls/key.pem}';
const ROUTE = 'from: https://a.example, to: https://b.example';

describe('the plain form of certificates', () => {
  test('makes each pair of files a Secret for TLS, which its route or the settings refer to', () => {
    const text = `{default_certificate: ${PAIR}, routes: [{${ROUTE}, tls: ${PAIR}}]}`;
    const { resources, problems } = readPlainForm(text, FILES);

    expect(problems).toEqual([]);
    expect(resources).toMatchObject([
      {
        kind: 'GatewaySettings',
        spec: { defaultCertificateRef: { name: 'gatehouse-default-tls' } },
      },
      { kind: 'Secret', metadata: { name: 'gatehouse-default-tls' } },
      {
        kind: 'Secret',
        metadata: { name: 'gatehouse-route-0-tls' },
        values: {
          type: 'tls',
          certificate: Buffer.from(cert),
          privateKey: Buffer.from(key),
          values: 'unlabelled',
        },
      },
      { kind: 'Route', spec: { tls: { certificateRefs: [{ name: 'gatehouse-route-0-tls' }] } } },
    ]);
  });

  test('makes ca_file a ConfigMap', () => {
    const provider = '{issuer: https://idp.example, client_id: x, ca_file: ca.pem}';
    const { resources, problems } = readPlainForm(`identity_providers: {a: ${provider}}`, FILES);

    expect(problems).toEqual([]);
    expect(resources).toMatchObject([
      {
        spec: {
          identityProviders: [{ name: 'a', caRef: { name: 'gatehouse-identity-provider-0' } }],
        },
      },
      { kind: 'ConfigMap', values: new Map([['ca.crt', authority.ca]]) },
    ]);
  });

  test.each([
    ['5', 'routes[0].tls: must be a mapping with cert_file and key_file'],
    ['{cert_file: tls/cert.pem}', 'routes[0].tls.key_file: is required'],
    [
      '{cert_file: tls/cert.pem, key_file: gone}',
      'routes[0].tls.key_file: the file gone cannot be read',
    ],
    [
      '{cert_file: tls/cert.pem, key_file: tls/key.pem, key: x}',
      'routes[0].tls.key: unknown key "key", known are cert_file, key_file',
    ],
  ])('names the key of a problem: %s', (tls, expected) => {
    const { problems } = readPlainForm(`routes: [{${ROUTE}, tls: ${tls}}]`, FILES);

    expect(problems).toEqual([expect.stringContaining(expected)]);
  });
});
