import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../../requirements/verifies.ts';
import { readPlainForm } from './read-plain-form.ts';

describe('the plain form', () => {
  test.each([
    {
      key: 'from, to, prefix and timeout',
      route: '{from: https://a.example, to: http://b, prefix: /x, timeout: 5s}',
      spec: {
        from: 'https://a.example',
        to: 'http://b',
        prefix: '/x',
        timeouts: { request: '5s' },
      },
    },
    {
      key: 'mcp.server',
      route:
        '{from: https://a.example, to: http://b, mcp: {server: {max_request_bytes: 9, path: /m, tool_denial: error, sub_paths: [{path: /s, inspected: false}]}}}',
      spec: {
        from: 'https://a.example',
        to: 'http://b',
        mcp: {
          server: {
            ...{ maxRequestBytes: 9, path: '/m', toolDenial: 'error' },
            subPaths: [{ path: '/s', inspected: false }],
          },
        },
      },
    },
    {
      key: 'an empty mcp.server',
      route: '{from: https://a.example, to: http://b, mcp: {server: {}}}',
      spec: { from: 'https://a.example', to: 'http://b', mcp: { server: {} } },
    },
    {
      key: 'policy, whose keys stay as they are',
      route:
        '{from: https://a.example, to: http://b, policy: {deny: {or: [{mcp_tool: {not_in: [x]}}]}}}',
      spec: {
        from: 'https://a.example',
        to: 'http://b',
        policy: { deny: { or: [{ mcp_tool: { not_in: ['x'] } }] } },
      },
    },
    {
      key: 'the origins of pages that may open WebSockets',
      route:
        '{from: https://a.example, to: http://b, allow_websockets: true, websocket_allowed_origins: [https://c.example]}',
      spec: {
        from: 'https://a.example',
        to: 'http://b',
        allowWebsockets: true,
        websocketAllowedOrigins: ['https://c.example'],
      },
    },
    {
      key: 'the header fields to let through',
      route:
        '{from: https://a.example, to: http://b, pass_request_headers: [X-Real-IP], pass_response_headers: [NEL]}',
      spec: {
        from: 'https://a.example',
        to: 'http://b',
        passRequestHeaders: ['X-Real-IP'],
        passResponseHeaders: ['NEL'],
      },
    },
    {
      key: 'who may use it, and WebSockets',
      route:
        '{from: https://a.example, to: http://b, path: /x, allow_any_authenticated_user: true, allow_public_unauthenticated_access: false, allow_websockets: true}',
      spec: {
        from: 'https://a.example',
        to: 'http://b',
        path: '/x',
        allowAnyAuthenticatedUser: true,
        allowPublicUnauthenticatedAccess: false,
        allowWebsockets: true,
      },
    },
    {
      key: 'bearer tokens',
      route:
        '{from: https://a.example, to: http://b, bearer_token_format: jwt, identity_provider: corp, idp_access_token_allowed_audiences: [api]}',
      spec: {
        from: 'https://a.example',
        to: 'http://b',
        bearerTokenFormat: 'jwt',
        identityProvider: 'corp',
        idpAccessTokenAllowedAudiences: ['api'],
      },
    },
  ])('of a route has $key', ({ route, spec }) => {
    const { resources, problems } = readPlainForm(`routes: [${route}]`);
    expect(problems).toEqual([]);
    expect(resources).toContainEqual(expect.objectContaining({ kind: 'Route', spec }));
  });

  test.each([
    {
      text: 'authenticate_url: https://auth.example',
      spec: { authenticateUrl: 'https://auth.example' },
    },
    {
      text: 'mcp_allowed_client_id_domains: ["*.x"]',
      spec: { mcpAllowedClientIdDomains: ['*.x'] },
    },
    { text: 'mcp_allowed_origins: [https://x]', spec: { mcpAllowedOrigins: ['https://x'] } },
    {
      text: 'outbound_allowed_cidrs: [10.0.0.0/8]',
      spec: { outboundAllowedCidrs: ['10.0.0.0/8'] },
    },
    {
      text: 'trusted_proxies: [10.0.0.0/24]',
      spec: { trustedProxies: ['10.0.0.0/24'] },
    },
    {
      text: '{mcp_unused_client_lifetime: 168h, outage_grace: 0s}',
      spec: { mcpUnusedClientLifetime: '168h', outageGrace: '0s' },
    },
    { text: 'tool_denial: result', spec: { toolDenial: 'result' } },
    { text: 'authorize_log_fields: [user]', spec: { authorizeLogFields: ['user'] } },
    {
      text: '{bearer_token_format: idp_access_token, idp_access_token_allowed_audiences: [api]}',
      spec: { bearerTokenFormat: 'idp_access_token', idpAccessTokenAllowedAudiences: ['api'] },
    },
    {
      text: 'cookie_expiration: 1h\ncookie_same_site: Strict',
      spec: { cookie: { expiration: '1h', sameSite: 'Strict' } },
    },
    {
      text: 'tokens: {external_token_lifetime: 5m, refresh_token_lifetime: 1h, refresh_token_grace: 0s, opaque_token_lifetime: 2m}',
      spec: {
        tokens: {
          externalTokenLifetime: '5m',
          refreshTokenLifetime: '1h',
          refreshTokenGrace: '0s',
          opaqueTokenLifetime: '2m',
        },
      },
    },
  ])('of the settings has $text', ({ text, spec }) => {
    const { resources, problems } = readPlainForm(text);
    expect(problems).toEqual([]);
    expect(resources).toMatchObject([{ kind: 'GatewaySettings', spec }]);
  });

  /** What each name means for a route, and for the settings. */
  const FORMATS: readonly (readonly [string, string | undefined, string])[] = [
    ['default', 'default', 'default'],
    ['idp_access_token', 'idp_access_token', 'idp_access_token'],
    ['idp_identity_token', 'idp_identity_token', 'idp_identity_token'],
    ['jwt', 'jwt', 'jwt'],
    // A route leaves it to the settings.
    ['unset', undefined, 'default'],
    // A route has the default, whatever the settings say.
    ['unknown', 'default', 'default'],
  ];

  for (const [name, ofRoute, ofSettings] of FORMATS) {
    verifies('bearer.setting', `has the bearer token format ${name}`, () => {
      const route = `{from: https://a.example, to: http://b, bearer_token_format: ${name}}`;
      const { resources, problems } = readPlainForm(
        `{bearer_token_format: ${name}, routes: [${route}]}`,
      );
      expect(problems).toEqual([]);
      const spec = { from: 'https://a.example', to: 'http://b', bearerTokenFormat: ofRoute };
      expect(resources).toEqual([
        expect.objectContaining({
          kind: 'GatewaySettings',
          spec: { bearerTokenFormat: ofSettings },
        }),
        expect.objectContaining({ kind: 'Route', spec }),
      ]);
    });
  }

  test('of an identity provider becomes an entry and a Secret', () => {
    const { resources, problems } = readPlainForm(`
      identity_providers:
        corp:
          issuer: https://idp.example
          client_id: gatehouse
          client_secret: hunter2
          sign_in: true
          scopes: [openid, groups]
          authorization_params: {prompt: select_account}
          groups_claim: realm_access/roles
          groups_lookup: {url: 'https://idp.example/groups', groups_path: value/id, next_page: next}
          require_verified_email: true
          type: oidc
          audiences: [api]
          jwks_url: https://idp.example/keys
          access_token_type: jwt
        other: {issuer: https://other.example, client_id: public}
    `);
    expect(problems).toEqual([]);
    expect(resources).toMatchObject([
      {
        kind: 'GatewaySettings',
        spec: {
          identityProviders: [
            {
              name: 'corp',
              issuerUrl: 'https://idp.example',
              clientId: 'gatehouse',
              clientSecretRef: { name: 'gatehouse', key: 'identity-provider-0' },
              signIn: true,
              scopes: ['openid', 'groups'],
              authorizationParams: { prompt: 'select_account' },
              groupsClaim: 'realm_access/roles',
              groupsLookup: {
                url: 'https://idp.example/groups',
                groupsPath: 'value/id',
                nextPage: 'next',
              },
              requireVerifiedEmail: true,
              type: 'oidc',
              audiences: ['api'],
              jwksUrl: 'https://idp.example/keys',
              accessTokenType: 'jwt',
            },
            { name: 'other', issuerUrl: 'https://other.example', clientId: 'public' },
          ],
        },
      },
      { kind: 'Secret', values: new Map([['identity-provider-0', Buffer.from('hunter2')]]) },
    ]);
  });

  test('reads secrets from files, relative to the configuration file', () => {
    const text = `
      signing_key_file: keys/assertion.pem
      identity_providers:
        corp: {issuer: https://idp.example, client_id: x, client_secret_file: /run/secrets/corp}
    `;
    const { resources, problems } = readPlainForm(text, {
      '/run/secrets/corp': 'hunter2\n',
      '/etc/gatehouse/keys/assertion.pem': 'PEM\n',
    });
    expect(problems).toEqual([]);
    expect(resources).toMatchObject([
      { spec: { signingKeyRefs: [{ name: 'gatehouse', key: 'signing-key' }] } },
      {
        values: new Map([
          ['identity-provider-0', Buffer.from('hunter2')],
          ['signing-key', Buffer.from('PEM')],
        ]),
      },
    ]);
  });

  test.each([
    { from: 'http://localhost:8080', name: 'localhost-8080' },
    { from: 'https://Files.Example.com', name: 'files-example-com' },
    { from: 'https://*.example.com:8443', name: 'wildcard-example-com-8443' },
    { from: 'https://a.example', more: 'prefix: /team/a', name: 'a-example-team-a' },
    { from: 'https://a.example', more: 'path: /health', name: 'a-example-health-exactly' },
    { from: 'https://a.example', more: 'regex: /x/.*', name: 'a-example-x-regex' },
    { from: 'https://a.example', more: 'name: files', name: 'files' },
  ])('names a route of $from $more "$name"', ({ from, more, name }) => {
    const extra = more === undefined ? '' : `, ${more}`;
    const { resources } = readPlainForm(`routes: [{from: "${from}", to: http://b${extra}}]`);
    expect(resources).toContainEqual(
      expect.objectContaining({
        kind: 'Route',
        metadata: expect.objectContaining({ name, namespace: 'default' }),
      }),
    );
  });
});
