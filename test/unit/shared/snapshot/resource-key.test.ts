import { expect, test } from '@jest/globals';

import {
  identityProviderKey,
  isRouteKey,
  isServiceKey,
  resourceKey,
  routeKey,
  serviceKey,
  SETTINGS_KEY,
} from '../../../../shared/snapshot/resource-key.ts';
import { aCompiledService } from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';
import { filesThatSpell } from '../../../support/spellings.ts';

test('the key of a resource names its kind, and its name where a snapshot may hold several', () => {
  expect(resourceKey(compiledSettings())).toBe(SETTINGS_KEY);
  expect(resourceKey(aCompiledService('team/app', []))).toBe('service/team/app');
});

test.each([
  ['a route', routeKey('team/app'), { route: true, service: false }],
  ['a Service', serviceKey('team/app'), { route: false, service: true }],
  ['an identity provider', identityProviderKey('route/x'), { route: false, service: false }],
  ['the settings', SETTINGS_KEY, { route: false, service: false }],
])('a key shows that its resource is %s', (_what, key, expected) => {
  expect({ route: isRouteKey(key), service: isServiceKey(key) }).toEqual(expected);
});

test('only one file spells the prefixes of keys', () => {
  const files = filesThatSpell(/['"`](?:route|service|identity-provider)\/(?!\w+\.ts)/);
  expect(files).toEqual(['shared/snapshot/resource-key.ts']);
});
