import { describe, expect, test } from '@jest/globals';

import { readCandidates } from '../../../../controller/files/candidates.ts';
import { formatProblem } from '../../../../controller/files/located-problem.ts';
import type { Resource } from '../../../../controller/validate/validate-resource.ts';
import { contentsOf } from './contents-of.ts';

const FILE = '/etc/gatehouse/config.yaml';

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
        '{from: https://a.example, to: http://b, mcp: {server: {max_request_bytes: 9, path: /m}}}',
      spec: {
        from: 'https://a.example',
        to: 'http://b',
        mcp: { server: { maxRequestBytes: 9, path: '/m' } },
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
  ])('of a route has $key', ({ route, spec }) => {
    const { resources, problems } = read(`routes: [${route}]`);
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
    { text: 'authorize_log_fields: [user]', spec: { authorizeLogFields: ['user'] } },
    {
      text: 'cookie_expiration: 1h\ncookie_same_site: Strict',
      spec: { cookie: { expiration: '1h', sameSite: 'Strict' } },
    },
    {
      text: 'tokens: {external_token_lifetime: 5m, refresh_token_lifetime: 1h, refresh_token_grace: 0s}',
      spec: {
        tokens: {
          externalTokenLifetime: '5m',
          refreshTokenLifetime: '1h',
          refreshTokenGrace: '0s',
        },
      },
    },
  ])('of the settings has $text', ({ text, spec }) => {
    const { resources, problems } = read(text);
    expect(problems).toEqual([]);
    expect(resources).toMatchObject([{ kind: 'GatewaySettings', spec }]);
  });

  test('of an identity provider becomes an entry and a Secret', () => {
    const { resources, problems } = read(`
      identity_providers:
        corp:
          issuer: https://idp.example
          client_id: gatehouse
          client_secret: hunter2
          sign_in: true
          scopes: [openid, groups]
          authorization_params: {prompt: select_account}
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
    const { resources, problems } = read(text, {
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
    const { resources } = read(`routes: [{from: "${from}", to: http://b${extra}}]`);
    expect(resources).toContainEqual(
      expect.objectContaining({
        kind: 'Route',
        metadata: expect.objectContaining({ name, namespace: 'default' }),
      }),
    );
  });

  test.each([
    {
      fault: 'an unknown key, with the nearest one',
      text: 'cookie_expiry: 1h',
      problem:
        'config.yaml:1 (document 1) GatewaySettings default/gatehouse: cookie_expiry: unknown key "cookie_expiry", did you mean "cookie_expiration"? [InvalidSpec]',
    },
    {
      fault: 'a key that is another product’s, with those that there are',
      text: 'tokens: {zzzzzzzzzz: 1h}',
      problem:
        'config.yaml:1 (document 1) GatewaySettings default/gatehouse: tokens.zzzzzzzzzz: unknown key "zzzzzzzzzz", known are external_token_lifetime, refresh_token_lifetime, refresh_token_grace [InvalidSpec]',
    },
    {
      fault: 'an address for a range',
      text: 'cookie_expiration: 1h\ntrusted_proxies:\n  - 10.0.0.0/24\n  - 10.0.1.1',
      problem:
        'config.yaml:4 (document 1) GatewaySettings default/gatehouse: trusted_proxies[1]: must be an address range such as 10.20.0.0/16 [InvalidSpec]',
    },
    {
      fault: 'a grace that is too long',
      text: 'outage_grace: 2h',
      problem:
        'config.yaml:1 (document 1) GatewaySettings default/gatehouse: outage_grace: must be at most 1h [InvalidSpec]',
    },
    {
      fault: 'an unknown key of a route',
      text: 'routes:\n  - from: https://a.example\n    to: http://b\n    polcy: {}',
      problem:
        'config.yaml:4 (document 1) Route default/a-example: routes[0].polcy: unknown key "polcy", did you mean "policy"? [InvalidSpec]',
    },
    {
      fault: 'a value that the schema refuses, under its own key',
      text: 'routes:\n  - from: https://a.example\n    to: http://b\n    mcp:\n      server:\n        max_request_bytes: 0',
      problem:
        'config.yaml:6 (document 1) Route default/a-example: routes[0].mcp.server.max_request_bytes: must be at least 1 [InvalidSpec]',
    },
    {
      fault: 'a rule of the schema, in its own words',
      text: 'routes: [{from: https://a.example, to: http://b, policy: {allow: {or: [{accept: true}]}}, allow_public_unauthenticated_access: true}]',
      problem:
        'config.yaml:1 (document 1) Route default/a-example: routes[0]: allow_public_unauthenticated_access cannot be combined with policy, which nobody would check [InvalidSpec]',
    },
    {
      fault: 'a missing key of an identity provider',
      text: 'identity_providers:\n  corp: {issuer: https://idp.example}',
      problem:
        'config.yaml:2 (document 1) GatewaySettings default/gatehouse: identity_providers.corp.client_id: is required [InvalidSpec]',
    },
    {
      fault: 'a secret that is written twice',
      text: 'identity_providers:\n  corp: {issuer: https://i.example, client_id: x, client_secret: hunter2, client_secret_file: y}',
      problem:
        'config.yaml:2 (document 1) GatewaySettings default/gatehouse: identity_providers.corp.client_secret_file: cannot be combined with client_secret [InvalidSpec]',
    },
    {
      fault: 'a secret file that is not there',
      text: 'signing_key_file: nowhere.pem',
      problem:
        'config.yaml:1 (document 1) GatewaySettings default/gatehouse: signing_key_file: the file nowhere.pem cannot be read [InvalidSpec]',
    },
    {
      fault: 'a secret that is empty',
      text: 'identity_providers:\n  corp: {issuer: https://i.example, client_id: x, client_secret: ""}',
      problem:
        'config.yaml:2 (document 1) GatewaySettings default/gatehouse: identity_providers.corp.client_secret: must not be empty [InvalidSpec]',
    },
    {
      fault: 'an identity provider that is no mapping',
      text: 'identity_providers: {corp: https://idp.example}',
      problem:
        'config.yaml:1 (document 1) GatewaySettings default/gatehouse: identity_providers.corp: must be a mapping [InvalidSpec]',
    },
    {
      fault: 'a group of keys that is no mapping',
      text: 'routes:\n  - from: https://a.example\n    to: http://b\n    mcp: server',
      problem:
        'config.yaml:4 (document 1) Route default/a-example: routes[0].mcp: must be an object [InvalidSpec]',
    },
    {
      fault: 'routes that are no list',
      text: 'routes: {a: 1}',
      problem: 'config.yaml:1 (document 1) routes: routes: must be a list of routes [InvalidSpec]',
    },
    {
      fault: 'a route that is no mapping',
      text: 'routes:\n  - a',
      problem: 'config.yaml:2 (document 1) routes[0]: routes[0]: must be a mapping [InvalidSpec]',
    },
    {
      fault: 'a fault of a policy beside another fault',
      text: 'routes:\n  - from: https://a.example\n    to: 5\n    policy:\n      allow:\n        or:\n          - emial: x',
      problem:
        'config.yaml:7 (document 1) Route default/a-example: routes[0].policy.allow.or[0].emial: is not a known criterion; did you mean "email"? [InvalidPolicy]',
    },
  ])('reports $fault', ({ text, problem }) => {
    const { problems } = read(text);
    expect(problems).toContain(`/etc/gatehouse/${problem}`);
  });

  test('reports an invalid name of a resource', () => {
    const { problems } = read('routes: [{name: A b, from: https://a.example, to: http://b}]');
    expect(problems).toEqual([
      `${FILE}:1 (document 1) Route default/A b: routes[0].name: must consist of lower-case letters, digits, "-" and "." [InvalidManifest]`,
    ]);
  });

  test('never shows a secret in a problem', () => {
    const { problems } = read(`
      identity_providers:
        corp: {issuer: 1, client_id: [], client_secret: {hunter2: hunter2}, client_secret_fil: x}
    `);
    expect(problems).not.toEqual([]);
    expect(problems.join()).not.toContain('hunter2');
  });

  test('is not confused with a manifest without a kind', () => {
    const { problems } = read('apiVersion: gatehouse.dev/v1alpha1\nmetadata: {name: x}\nspec: {}');
    expect(problems).toEqual([
      `${FILE}:1 (document 1) manifest: kind: must be one of Route, GatewaySettings, Secret [InvalidManifest]`,
    ]);
  });
});

function read(
  text: string,
  secretFiles: Readonly<Record<string, string>> = {},
): { readonly resources: readonly Resource[]; readonly problems: readonly string[] } {
  const { resources } = readCandidates(contentsOf({ [FILE]: text }, secretFiles), []);
  const inFile = resources.filter(({ file }) => file === FILE);
  return {
    resources: inFile.flatMap(({ resource }) => (resource === undefined ? [] : [resource])),
    problems: inFile.flatMap(({ problems }) => problems.map(formatProblem)),
  };
}
