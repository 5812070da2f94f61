import { describe, expect, test } from '@jest/globals';

import type { GatewaySettings } from '../../../../../crds/types.ts';
import { compileOnce } from '../../../../support/compile-once.ts';
import { aSettings } from '../../../../support/resources.ts';
import { verifies } from '../../../../requirements/verifies.ts';

type Spec = GatewaySettings['spec'];

const COMPANY = { name: 'company', issuerUrl: 'https://a.example.com', clientId: 'gatehouse' };
const MACHINES = { name: 'machines', issuerUrl: 'https://b.example.com', audiences: ['api'] };
const GITHUB = {
  name: 'github',
  type: 'github',
  clientId: 'x',
  clientSecretRef: { name: 'idp', key: 'secret' },
} as const;
const APPLE = { name: 'apple', type: 'apple', clientId: 'x' } as const;
const SECRETS = new Map([['default/idp', new Map([['secret', Buffer.from('the-secret')]])]]);

function problemsWith(spec: Spec): readonly string[] {
  const { problems } = compileOnce({ routes: [], settings: aSettings(spec), secrets: SECRETS });
  return problems.map(({ path, message }) => `${path}: ${message}`);
}

describe('settings for all routes', () => {
  test.each<[string, Spec]>([
    ['default', { identityProviders: [] }],
    ['jwt', { identityProviders: [MACHINES] }],
    ['idp_access_token', { identityProviders: [COMPANY, MACHINES] }],
    ['idp_access_token', { identityProviders: [GITHUB] }],
    ['idp_access_token', { identityProviders: [COMPANY], idpAccessTokenAllowedAudiences: ['a'] }],
    ['idp_identity_token', { identityProviders: [APPLE, { ...GITHUB, signIn: false }] }],
  ])('may have the format %s with %j', (format, spec) => {
    const bearerTokenFormat = format as NonNullable<Spec['bearerTokenFormat']>;

    expect(problemsWith({ ...spec, bearerTokenFormat })).toEqual([]);
  });

  const REFUSED: readonly (readonly [string, Spec])[] = [
    [
      'jwt needs an identity provider with audiences, and the settings have no valid one',
      { bearerTokenFormat: 'jwt', identityProviders: [COMPANY] },
    ],
    [
      'idp_access_token needs an identity provider where users sign in, and the settings have no valid one',
      { bearerTokenFormat: 'idp_access_token', identityProviders: [MACHINES] },
    ],
    [
      'idp_identity_token cannot be used with github: GitHub has no identity tokens',
      { bearerTokenFormat: 'idp_identity_token', identityProviders: [GITHUB] },
    ],
    [
      'idp_access_token cannot be used with apple: Apple has no access tokens for others',
      { bearerTokenFormat: 'idp_access_token', identityProviders: [APPLE] },
    ],
    [
      'idpAccessTokenAllowedAudiences cannot be used with github: access tokens of GitHub have no audience',
      {
        bearerTokenFormat: 'idp_access_token',
        identityProviders: [GITHUB],
        idpAccessTokenAllowedAudiences: ['a'],
      },
    ],
  ];

  for (const [message, spec] of REFUSED) {
    verifies('bearer.providers', `are refused: ${message}`, () => {
      expect(problemsWith(spec)).toEqual([`spec.bearerTokenFormat: ${message}`]);
    });
  }
});
