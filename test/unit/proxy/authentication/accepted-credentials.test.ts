import { describe, expect, test } from '@jest/globals';

import { acceptedCredentials } from '../../../../proxy/authentication/accepted-credentials.ts';
import type { Configuration } from '../../../../proxy/configuration/configuration.ts';
import type { CompiledRoute, CompiledSettings } from '../../../../shared/snapshot/snapshot.ts';
import { aRoute, aWebRoute } from '../../../support/authorization-server.ts';
import { buildConfiguration } from '../../../support/build-configuration.ts';
import { AN_IDENTITY_PROVIDER, aSnapshot } from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';

const PUBLIC = { access: { kind: 'public' } } as const;
const OTHER = { ...AN_IDENTITY_PROVIDER, name: 'other', issuer: 'https://other', signIn: false };

function configured(settings: Partial<CompiledSettings> = {}): Configuration {
  return buildConfiguration(
    aSnapshot(compiledSettings(settings), { ...AN_IDENTITY_PROVIDER, signIn: true }, OTHER),
  );
}

/** Returns the kind of credential, and for tokens what they must be. */
function accepted(route: CompiledRoute, settings: Partial<CompiledSettings> = {}): object {
  const { kind, ...rest } = acceptedCredentials(route, configured(settings));
  if (!('use' in rest)) return { kind };
  const { key, ...use } = rest.use;
  expect(key).not.toBe('');
  return { kind, ...use, orExternalToken: rest.orExternalToken };
}

describe('With the format `default`', () => {
  test.each([
    { kind: 'a web route', route: aWebRoute(), credential: 'session-cookie' },
    { kind: 'an MCP server route', route: aRoute(), credential: 'external-token' },
    { kind: 'a public web route', route: aWebRoute(PUBLIC), credential: 'nothing' },
    { kind: 'a public MCP server route', route: aRoute(PUBLIC), credential: 'nothing' },
  ])('$kind accepts $credential', ({ route, credential }) => {
    expect(accepted(route)).toEqual({ kind: credential });
    expect(accepted({ ...route, bearerTokenFormat: 'default' }, JWT)).toEqual({ kind: credential });
  });
});

const JWT = { bearerTokenFormat: 'jwt' } as const;
const IDP = { bearerTokenFormat: 'idp_access_token' } as const;

describe('With an interpreting format', () => {
  test('a web route accepts tokens, and an MCP route external tokens too', () => {
    const token = { kind: 'bearer-token', format: 'jwt' };
    expect(accepted(aWebRoute(JWT))).toEqual({ ...token, orExternalToken: false });
    expect(accepted(aRoute(JWT))).toEqual({ ...token, orExternalToken: true });
  });

  test('of the settings, public routes accept nothing', () => {
    expect(accepted(aWebRoute(PUBLIC), JWT)).toEqual({ kind: 'nothing' });
  });

  test('of the route, that of the settings does not count', () => {
    expect(accepted(aWebRoute(IDP), JWT)).toMatchObject({ format: 'idp_access_token' });
  });

  test.each([
    { what: 'the provider with signIn', route: {}, provider: 'idp' },
    { what: 'the provider of the route', route: { identityProvider: 'other' }, provider: 'other' },
  ])('the formats for sign-in take tokens of $what', ({ route, provider }) => {
    for (const format of ['idp_access_token', 'idp_identity_token'] as const) {
      expect(accepted(aWebRoute({ bearerTokenFormat: format, ...route }))).toEqual({
        ...{ kind: 'bearer-token', format, provider, orExternalToken: false },
      });
    }
  });

  test('access tokens have the audiences of the settings, or of the route', () => {
    const settings = { idpAccessTokenAllowedAudiences: ['a'] };
    const ofRoute = { ...IDP, idpAccessTokenAllowedAudiences: ['b'] };
    expect(accepted(aWebRoute(IDP), settings)).toMatchObject({ allowedAudiences: ['a'] });
    expect(accepted(aWebRoute(ofRoute), settings)).toMatchObject({ allowedAudiences: ['b'] });
  });

  test('uses have one key exactly if they accept the same tokens', () => {
    const configuration = configured();
    const keyOf = (route: Partial<CompiledRoute>): string => {
      const credentials = acceptedCredentials(aWebRoute(route), configuration);
      return 'use' in credentials ? credentials.use.key : '';
    };
    const uses: Partial<CompiledRoute>[] = [
      JWT,
      { bearerTokenFormat: 'idp_identity_token' },
      { bearerTokenFormat: 'idp_identity_token', identityProvider: 'other' },
      IDP,
      { ...IDP, identityProvider: 'other' },
      { ...IDP, idpAccessTokenAllowedAudiences: ['a', 'b'] },
      { ...IDP, idpAccessTokenAllowedAudiences: ['a,b'] },
      { ...IDP, idpAccessTokenAllowedAudiences: ['own client'] },
    ];
    expect(new Set(uses.map(keyOf)).size).toBe(uses.length);
    expect(keyOf({ ...IDP, identityProvider: 'idp' })).toBe(keyOf(IDP));
  });
});
