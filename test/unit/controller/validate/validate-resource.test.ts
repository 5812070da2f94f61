import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import {
  validateResource,
  type Resource,
} from '../../../../controller/validate/validate-resource.ts';
import { aRoute, aSettings } from '../../../support/resources.ts';

const PLACE = 'gateway.yaml, document 1';

function problemsOf(document: unknown): readonly string[] {
  const validation = validateResource(document, PLACE);
  if (validation.kind === 'valid') return [];
  return validation.problems.map(({ path, message }) => `${path}: ${message}`);
}

function resourceOf(document: unknown): Resource {
  const validation = validateResource(document, PLACE);
  if (validation.kind === 'valid') return validation.resource;
  throw new Error(JSON.stringify(validation.problems));
}

/** A Route that says what it should, but for what the YAML changes in its spec. */
function routeWith(yaml: string): unknown {
  const changes = parse(yaml) as Record<string, unknown>;
  const spec = { from: 'https://app.example.com', to: 'http://app:8080', ...changes };
  return { ...aRoute(), spec };
}

function settingsWith(yaml: string): unknown {
  return { ...aSettings(), spec: parse(yaml) as unknown };
}

const PROVIDER = 'name: idp, issuerUrl: https://idp.example.com, clientId: gatehouse';

describe('a valid manifest', () => {
  test('becomes a resource', () => {
    expect(resourceOf(aRoute())).toEqual(aRoute());
    expect(resourceOf(aSettings())).toEqual(aSettings());
  });

  test('is in the namespace "default" unless it says otherwise', () => {
    const { metadata } = resourceOf({ ...aRoute(), metadata: { name: 'app' } });

    expect(metadata).toEqual({ name: 'app', namespace: 'default' });
  });

  test('may come from an API server, whose fields are let through and whose status is not', () => {
    const metadata = { name: 'app', resourceVersion: '7', managedFields: [{}], uid: 'u' };
    const resource = resourceOf({ ...aRoute(), metadata, status: { whatever: 1 } });

    expect(resource).not.toHaveProperty('status');
    expect(resource.metadata).toMatchObject({ uid: 'u' });
  });

  test.each([
    'mcp: { server: {} }',
    'from: http://localhost:8080/',
    'from: https://[::1]:8443',
    'from: https://*.Example.com',
    'policy: { allow: { or: [{ accept: true }] }, unknown: [{ kept: for the compiler }] }',
    'allowPublicUnauthenticatedAccess: true',
    '{ allowPublicUnauthenticatedAccess: false, policy: {} }',
    'timeouts: { request: 1h30m5s100ms }',
    'timeouts: { request: 0s }',
  ])('may be a Route with %s', (yaml) => {
    expect(problemsOf(routeWith(yaml))).toEqual([]);
  });

  test.each([
    '{}',
    `identityProviders: [{ ${PROVIDER}, authorizationParams: { prompt: login } }]`,
    'authorizeLogFields: []',
    "mcpAllowedClientIdDomains: ['*.example.com', localhost]",
    'tokens: { refreshTokenGrace: 0s }',
    "trustedProxies: [10.0.0.1/32, 'fd00::/8', 10.0.0.0/10]",
    'mcpUnusedClientLifetime: 2160h',
    'outageGrace: 0s',
    'outageGrace: 1h',
  ])('may be GatewaySettings with %s', (yaml) => {
    expect(problemsOf(settingsWith(yaml))).toEqual([]);
  });
});

describe('a document that is no resource', () => {
  test.each([
    ['null', ': must be a manifest: an object with a kind'],
    ['[]', ': must be a manifest: an object with a kind'],
    ['{ spec: {} }', 'kind: must be one of Route, GatewaySettings, Secret'],
    [
      '{ kind: Rout }',
      'kind: must be one of Route, GatewaySettings, Secret; did you mean "Route"?',
    ],
    ['{ apiVersion: apps/v1, kind: Secret }', 'apiVersion: must be v1 for a Secret'],
  ])('%s is refused', (yaml, problem) => {
    expect(problemsOf(parse(yaml))).toEqual([problem]);
  });

  test('is called by its place while it has no name', () => {
    const validation = validateResource({ kind: 'Route' }, PLACE);

    expect(validation).toMatchObject({ problems: [{ resource: PLACE }, {}, {}] });
  });

  test('must be of the version that is served', () => {
    const problems = problemsOf({ ...aRoute(), apiVersion: 'gatehouse.dev/v1' });

    expect(problems).toEqual(['apiVersion: must be gatehouse.dev/v1alpha1']);
  });
});

describe('metadata', () => {
  test.each([
    ['{}', 'metadata.name: is required'],
    ['{ name: My_App }', 'metadata.name: must consist of lower-case letters, digits, "-" and "."'],
    [
      '{ name: a, namespace: B }',
      'metadata.namespace: must consist of lower-case letters, digits and "-"',
    ],
    ['{ name: a, lables: {} }', 'metadata.lables: is not a known field; did you mean "labels"?'],
    ['{ name: a, labels: { tier: 1 } }', 'metadata.labels.tier: must be a string'],
  ])('%s is refused', (yaml, problem) => {
    expect(problemsOf({ ...aRoute(), metadata: parse(yaml) as unknown })).toEqual([problem]);
  });

  test('names the resource in problems', () => {
    const metadata = { name: 'files', namespace: 'team-a' };
    const validation = validateResource({ ...aRoute(), metadata, spec: {} }, PLACE);

    expect(validation).toMatchObject({
      problems: [
        { resource: 'Route team-a/files', path: 'spec.from', reason: 'InvalidSpec' },
        { resource: 'Route team-a/files', path: 'spec.to', reason: 'InvalidSpec' },
      ],
    });
  });
});

describe('a Route', () => {
  test.each([
    [
      'from: https://app.example.com/path',
      'spec.from: must be a scheme, host and optional port such as https://app.example.com, without a path',
    ],
    [
      'to: http://user:password@app:8080',
      'spec.to: must be an http or https URL without user, query and fragment',
    ],
    ['prefix: files', 'spec.prefix: must begin with "/"'],
    [
      'allow_websockets: true',
      'spec.allow_websockets: is not a known field; did you mean "allowWebsockets"?',
    ],
    ['xyzzy: true', 'spec.xyzzy: is not a known field'],
    ['allowWebsockets: yes', 'spec.allowWebsockets: must be a boolean'],
    ['prefix:', 'spec.prefix: must be a string'],
    ['mcp: {}', 'spec.mcp.server: is required'],
    ['mcp: { server: }', 'spec.mcp.server: must be an object'],
    ['mcp: { client: {}, server: {} }', 'spec.mcp.client: is not a known field'],
    [
      'mcp: { server: { max_request_bytes: 1 } }',
      'spec.mcp.server.max_request_bytes: is not a known field; did you mean "maxRequestBytes"?',
    ],
    [
      'mcp: { server: { maxRequestBytes: 0 } }',
      'spec.mcp.server.maxRequestBytes: must be at least 1',
    ],
    [
      'mcp: { server: { maxRequestBytes: 1.5 } }',
      'spec.mcp.server.maxRequestBytes: must be an integer',
    ],
    ['policy: { allow: { or: [{}] } }', 'spec.policy.allow.or[0]: must not be empty'],
    [
      'policy: { allow: { or: [{ email: a, user: b }] } }',
      'spec.policy.allow.or[0]: must have at most 1 field',
    ],
    ['policy: { deny: { and: [accept] } }', 'spec.policy.deny.and[0]: must be an object'],
    ['policy: { deny: { and: {} } }', 'spec.policy.deny.and: must be an array'],
    [
      'timeouts: { request: 60 s }',
      'spec.timeouts.request: must be a duration such as 90s, 1h30m or 500ms (Gateway API, GEP-2257)',
    ],
    [`regex: '${'a'.repeat(1025)}'`, 'spec.regex: must have at most 1024 characters'],
  ])('with %s is refused', (yaml, problem) => {
    expect(problemsOf(routeWith(yaml))).toEqual([problem]);
  });

  test('has all of its problems reported, not the first', () => {
    const document = routeWith(`
      to: ftp://files
      prefix: a
      path: b
      mcp: { server: { path: c } }
      policy: { allow: { or: [1, 2] } }
    `);

    expect(problemsOf(document).map((problem) => problem.split(':')[0])).toEqual([
      'spec',
      'spec.mcp.server.path',
      'spec.path',
      'spec.policy.allow.or[0]',
      'spec.policy.allow.or[1]',
      'spec.prefix',
      'spec.to',
    ]);
  });

  test('has problems of its policy under a reason of their own', () => {
    const validation = validateResource(routeWith('policy: { allow: [] }'), PLACE);

    expect(validation).toMatchObject({ problems: [{ reason: 'InvalidPolicy' }] });
  });
});

describe('GatewaySettings', () => {
  test.each([
    [
      'authenticate_url: https://a',
      'spec.authenticate_url: is not a known field; did you mean "authenticateUrl"?',
    ],
    [
      `identityProviders: [{ ${PROVIDER} }, { ${PROVIDER} }]`,
      'spec.identityProviders[1]: has the same name as an item before it',
    ],
    [
      `identityProviders: [{ ${PROVIDER}, clientSecretRef: { name: idp } }]`,
      'spec.identityProviders[0].clientSecretRef.key: is required',
    ],
    [
      `identityProviders: [{ ${PROVIDER}, scopes: [openid, email, email] }]`,
      'spec.identityProviders[0].scopes[2]: has the same value as an item before it',
    ],
    [
      'mcpAllowedClientIdDomains: [https://example.com]',
      'spec.mcpAllowedClientIdDomains[0]: must be a domain such as example.com or *.example.com, in lower case',
    ],
    [
      'trustedProxies: [10.0.0.1]',
      'spec.trustedProxies[0]: must be an address range such as 10.20.0.0/16',
    ],
    [
      'trustedProxies: [10.0.0.0/24, 10.0.0.0/24]',
      'spec.trustedProxies[1]: has the same value as an item before it',
    ],
    ['outageGrace: 90m', 'spec.outageGrace: must be at most 1h'],
    ['mcpUnusedClientLifetime: 0h', 'spec.mcpUnusedClientLifetime: must be more than 0s'],
    ['cookie: { sameSite: lax }', 'spec.cookie.sameSite: must be one of Lax, Strict, None'],
    ['authorizeLogFields: user', 'spec.authorizeLogFields: must be an array'],
    ['signingKeyRefs: [1, 2, 3, 4, 5]', 'spec.signingKeyRefs: must have at most 4 items'],
  ])('with %s are refused', (yaml, problem) => {
    expect(problemsOf(settingsWith(yaml))).toContain(problem);
  });
});

describe('a rule in CEL', () => {
  test('that cannot be evaluated is not reported beside the reason why', () => {
    expect(problemsOf(settingsWith('cookie: { expiration: soon }'))).toEqual([
      'spec.cookie.expiration: must be a duration such as 90s, 1h30m or 500ms (Gateway API, GEP-2257)',
    ]);
  });
});
