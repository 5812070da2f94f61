import { describe, expect, test } from '@jest/globals';

import { FILE, readPlainForm } from './read-plain-form.ts';

describe('the plain form', () => {
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
        'config.yaml:1 (document 1) GatewaySettings default/gatehouse: tokens.zzzzzzzzzz: unknown key "zzzzzzzzzz", known are external_token_lifetime, refresh_token_lifetime, refresh_token_grace, opaque_token_lifetime [InvalidSpec]',
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
        'config.yaml:1 (document 1) Route default/a-example: routes[0]: allow_public_unauthenticated_access cannot be combined with policy, which would not be checked [InvalidSpec]',
    },
    {
      fault: 'a missing key of an identity provider',
      text: 'identity_providers:\n  corp: {issuer: https://idp.example}',
      problem:
        'config.yaml:2 (document 1) GatewaySettings default/gatehouse: identity_providers.corp: must have a client_id, to sign users in, or audiences, for jwt [InvalidSpec]',
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
      fault: 'a secret with a trace of a wrong encoding',
      text: 'identity_providers:\n  corp: {issuer: https://i.example, client_id: x, client_secret: "a\\uFFFDb"}',
      problem:
        'config.yaml:2 (document 1) GatewaySettings default/gatehouse: identity_providers.corp.client_secret: has the character U+FFFD, which no secret has [InvalidSpec]',
    },
    {
      fault: 'a route without an upstream, in words of this form',
      text: 'routes:\n  - from: https://a.example\n    too: http://b',
      problem:
        'config.yaml:2 (document 1) Route default/a-example: routes[0]: to must be set [InvalidSpec]',
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
      fault: 'a client of MCP with keys',
      text: 'routes:\n  - from: https://a.example\n    to: https://b\n    mcp: {client: {path: /a}}',
      problem:
        'config.yaml:4 (document 1) Route default/a-example: routes[0].mcp.client.path: unknown key "path", no key is known here [InvalidSpec]',
    },
    {
      fault: 'upstream OAuth with a misspelt key',
      text: 'routes:\n  - from: https://a.example\n    to: https://b\n    mcp: {server: {upstream_oauth2: {client_idd: x}}}',
      problem:
        'config.yaml:4 (document 1) Route default/a-example: routes[0].mcp.server.upstream_oauth2.client_idd: unknown key "client_idd", did you mean "client_id"? [InvalidSpec]',
    },
    {
      fault: 'a client secret without a client, in words of this form',
      text: 'routes:\n  - from: https://a.example\n    to: https://b\n    mcp: {server: {upstream_oauth2: {client_secret: hunter2}}}',
      problem:
        'config.yaml:4 (document 1) Route default/a-example: routes[0].mcp.server.upstream_oauth2: client_secret needs a client_id [InvalidSpec]',
    },
    {
      fault: 'a client secret that is written twice',
      text: 'routes:\n  - from: https://a.example\n    to: https://b\n    mcp: {server: {upstream_oauth2: {client_id: x, client_secret: hunter2, client_secret_file: y}}}',
      problem:
        'config.yaml:4 (document 1) Route default/a-example: routes[0].mcp.server.upstream_oauth2.client_secret_file: cannot be combined with client_secret [InvalidSpec]',
    },
    {
      fault: 'the file of a client secret that is not there',
      text: 'routes:\n  - from: https://a.example\n    to: https://b\n    mcp: {server: {upstream_oauth2: {client_id: x, client_secret_file: nowhere}}}',
      problem:
        'config.yaml:4 (document 1) Route default/a-example: routes[0].mcp.server.upstream_oauth2.client_secret_file: the file nowhere cannot be read [InvalidSpec]',
    },
    {
      fault: 'an issuer without upstream OAuth, in words of this form',
      text: 'routes:\n  - from: https://a.example\n    to: https://b\n    mcp: {server: {authorization_server_url: https://c.example}}',
      problem:
        'config.yaml:4 (document 1) Route default/a-example: routes[0].mcp.server: authorization_server_url needs upstream_oauth2 without endpoint.auth_url, because it is for discovery only [InvalidSpec]',
    },
    {
      fault: 'upstream OAuth that is no mapping',
      text: 'routes:\n  - from: https://a.example\n    to: https://b\n    mcp: {server: {upstream_oauth2: }}',
      problem:
        'config.yaml:4 (document 1) Route default/a-example: routes[0].mcp.server.upstream_oauth2: must be an object [InvalidSpec]',
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
    const { problems } = readPlainForm(text);
    expect(problems).toContain(`/etc/gatehouse/${problem}`);
  });

  test('reports an invalid name of a resource', () => {
    const { problems } = readPlainForm(
      'routes: [{name: A b, from: https://a.example, to: http://b}]',
    );
    expect(problems).toEqual([
      `${FILE}:1 (document 1) Route default/A b: routes[0].name: must consist of lower-case letters, digits, "-" and "." [InvalidManifest]`,
    ]);
  });

  test('never shows a secret in a problem', () => {
    const { problems } = readPlainForm(`
      identity_providers:
        corp: {issuer: 1, client_id: [], client_secret: {hunter2: hunter2}, client_secret_fil: x}
    `);
    expect(problems).not.toEqual([]);
    expect(problems.join()).not.toContain('hunter2');
  });

  test('is not confused with a manifest without a kind', () => {
    const { problems } = readPlainForm(
      'apiVersion: gatehouse.dev/v1alpha1\nmetadata: {name: x}\nspec: {}',
    );
    expect(problems).toEqual([
      `${FILE}:1 (document 1) manifest: kind: must be one of Route, GatewaySettings, Secret, ConfigMap [InvalidManifest]`,
    ]);
  });
});
