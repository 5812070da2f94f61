import { describe, expect, test } from '@jest/globals';

import {
  type ClientMetadata,
  TOKEN_ENDPOINT_AUTH_METHODS,
} from '../../../../../proxy/records/client.ts';
import type { JsonObject } from '../../../../../proxy/json/json-object.ts';
import { parseClientMetadata } from '../../../../../proxy/authorization-server/clients/parse-client-metadata.ts';
import { verifies } from '../../../../requirements/verifies.ts';

const REDIRECT_URIS = ['https://client.example/callback'];
/** The example of RFC 7517, appendix A.1. */
const PUBLIC_KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
};

function parse(members: JsonObject): ClientMetadata {
  return parseClientMetadata(
    { redirect_uris: REDIRECT_URIS, ...members },
    { default: 'client_secret_basic', supported: TOKEN_ENDPOINT_AUTH_METHODS },
  );
}

describe('parseClientMetadata', () => {
  verifies('as.registration-defaults', 'fills in the defaults of RFC 7591', () => {
    expect(parse({})).toEqual({
      redirectUris: REDIRECT_URIS,
      tokenEndpointAuthMethod: 'client_secret_basic',
      grantTypes: ['authorization_code'],
    });
  });

  test('reads every known member', () => {
    const members = {
      client_name: ' Files \u202e',
      client_uri: 'https://client.example/',
      token_endpoint_auth_method: 'private_key_jwt',
      grant_types: ['refresh_token', 'authorization_code'],
      response_types: ['code'],
      application_type: 'native',
      scope: 'files:read files:write',
      jwks: { keys: [PUBLIC_KEY] },
    };
    expect(parse(members)).toEqual({
      clientName: 'Files',
      clientUri: 'https://client.example/',
      redirectUris: REDIRECT_URIS,
      tokenEndpointAuthMethod: 'private_key_jwt',
      grantTypes: ['authorization_code', 'refresh_token'],
      applicationType: 'native',
      scope: 'files:read files:write',
      jwks: { keys: [PUBLIC_KEY] },
    });
  });

  const LEFT_OUT: readonly (readonly [string, JsonObject, Partial<ClientMetadata>])[] = [
    ['members it does not know', { software_id: 1, 'client_name#ja': [] }, {}],
    ['members that are null', { client_name: null, grant_types: null, jwks: null }, {}],
    [
      'grant types it does not have',
      { grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] },
      { grantTypes: ['authorization_code'] },
    ],
    ['response types it does not have', { response_types: ['code', 'token'] }, {}],
    ['a link that is none', { client_uri: '' }, {}],
    ['a link that runs code', { client_uri: 'javascript:alert(1)' }, {}],
    ['a name that cannot be seen', { client_name: '\u200b' }, {}],
    ['keys a client has no use for', { jwks_uri: 'https://client.example/keys' }, {}],
    [
      'redirect URIs of unknown applications beside usable ones',
      { redirect_uris: ['somebody://callback', ...REDIRECT_URIS] },
      {},
    ],
  ];

  for (const [title, members, expected] of LEFT_OUT) {
    verifies('as.registration-unknown-members', `leaves out ${title}`, () => {
      expect(parse(members)).toEqual({ ...parse({}), ...expected });
    });
  }

  verifies(
    'as.application-type',
    'accepts the redirect URIs of Cursor, which calls itself a web application',
    () => {
      const redirectUris = [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ];
      const metadata = parse({ redirect_uris: redirectUris, application_type: 'web' });
      expect(metadata).toMatchObject({ redirectUris, applicationType: 'web' });
    },
  );

  test.each<[string, JsonObject, string]>([
    ['no redirect URIs', { redirect_uris: undefined }, 'redirect_uris is missing'],
    ['an empty list of them', { redirect_uris: [] }, 'redirect_uris is missing'],
    [
      'too many of them',
      {
        redirect_uris: Array.from(
          { length: 21 },
          (_, index) => `https://h.example/${String(index)}`,
        ),
      },
      'redirect_uris has more than 20 members',
    ],
    [
      'one that runs code',
      { redirect_uris: [...REDIRECT_URIS, 'javascript:alert(1)'] },
      'redirect_uris[1] has a scheme that is not allowed',
    ],
    [
      'one with a fragment',
      { redirect_uris: ['https://client.example/#x'] },
      'redirect_uris[0] has a fragment',
    ],
    [
      'only URIs of unknown applications',
      { redirect_uris: ['somebody://callback'] },
      'every redirect URI has a scheme that is neither named after a domain nor of a known application',
    ],
  ])('refuses %s', (_title, members, description) => {
    expect(() => parse(members)).toThrow(
      expect.objectContaining({ code: 'invalid_redirect_uri', description }),
    );
  });

  test.each<[string, JsonObject, string]>([
    [
      'redirect_uris that are not a list',
      { redirect_uris: 'https://h.example/' },
      'redirect_uris must be an array of strings',
    ],
    [
      'redirect_uris that are not strings',
      { redirect_uris: [1] },
      'redirect_uris must be an array of strings',
    ],
    ['a name that is no text', { client_name: {} }, 'client_name must be a string'],
    ['a long name', { client_name: 'x'.repeat(201) }, 'client_name is longer than 200 characters'],
    [
      'no supported grant type',
      { grant_types: ['implicit'] },
      'grant_types must include authorization_code',
    ],
    [
      'the refresh grant alone',
      { grant_types: ['refresh_token'] },
      'grant_types must include authorization_code',
    ],
    ['no response type it has', { response_types: ['token'] }, 'response_types must include code'],
    [
      'an unknown authentication method',
      { token_endpoint_auth_method: 'tls_client_auth' },
      'token_endpoint_auth_method is not supported',
    ],
    [
      'an unknown kind of application',
      { application_type: 'toaster' },
      'application_type must be native or web',
    ],
    ['a malformed scope', { scope: 'a  b' }, 'scope is malformed'],
    [
      'two sources of keys',
      { jwks: { keys: [PUBLIC_KEY] }, jwks_uri: 'https://c.example/k' },
      'jwks and jwks_uri must not both be present',
    ],
    [
      'private_key_jwt without keys',
      { token_endpoint_auth_method: 'private_key_jwt' },
      'private_key_jwt needs jwks or jwks_uri',
    ],
    [
      'keys that are fetched without TLS',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'http://c.example/k' },
      'jwks_uri must be an https URL',
    ],
    [
      'an empty key set',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [] } },
      'jwks must be a key set of 1 to 10 keys',
    ],
    [
      'a private key',
      {
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [{ ...PUBLIC_KEY, d: 'd' }] },
      },
      'jwks.keys[0] is a private key',
    ],
  ])('refuses %s', (_title, members, description) => {
    expect(() => parse(members)).toThrow(
      expect.objectContaining({ code: 'invalid_client_metadata', description }),
    );
  });
});
