import { expect, test } from '@jest/globals';

import {
  certificateKey,
  heldHostKey,
  identityProviderKey,
  isCertificateKey,
  isHeldHostKey,
  isRouteKey,
  isServiceKey,
  resourceKey,
  routeKey,
  serviceKey,
  SETTINGS_KEY,
} from '../../../../shared/snapshot/resource-key.ts';
import {
  aCompiledCertificate,
  aCompiledService,
  aHeldHost,
} from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';
import { filesThatSpell } from '../../../support/spellings.ts';

test('the key of a resource names its kind, and its name where a snapshot may hold several', () => {
  expect(resourceKey(compiledSettings())).toBe(SETTINGS_KEY);
  expect(resourceKey(aCompiledService('team/app', []))).toBe('service/team/app');
  expect(resourceKey(aHeldHost('*.example.com'))).toBe('held-host/*.example.com');
  expect(resourceKey(aCompiledCertificate('team/app'))).toBe('certificate/team/app');
});

test.each([
  ['a route', routeKey('team/app'), { route: true }],
  ['a Service', serviceKey('team/app'), { service: true }],
  ['a held host', heldHostKey('a.example.com'), { heldHost: true }],
  ['a certificate', certificateKey('team/app'), { certificate: true }],
  ['an identity provider', identityProviderKey('route/x'), {}],
  ['the settings', SETTINGS_KEY, {}],
])('a key shows that its resource is %s', (_what, key, expected) => {
  const kinds = {
    route: isRouteKey(key),
    service: isServiceKey(key),
    heldHost: isHeldHostKey(key),
    certificate: isCertificateKey(key),
  };
  const none = { route: false, service: false, heldHost: false, certificate: false };
  expect(kinds).toEqual({ ...none, ...expected });
});

test('only one file spells the prefixes of keys', () => {
  const files = filesThatSpell(
    /['"`](?:route|service|identity-provider|held-host|certificate)\/(?!\w+\.ts)/,
  );
  expect(files).toEqual(['shared/snapshot/resource-key.ts']);
});
