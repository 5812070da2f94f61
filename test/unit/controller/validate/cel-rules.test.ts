import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { validateResource } from '../../../../controller/validate/validate-resource.ts';
import { readCrdSchema, type CrdSchema } from '../../../../crds/crd-schema.ts';
import { aRoute, aSettings } from '../../../support/resources.ts';

/** What breaks each rule, by the rule's message. Each breaks that rule and nothing else. */
const BROKEN_ROUTES: Readonly<Record<string, readonly string[]>> = {
  'at most one of prefix, path and regex can be set': [
    '{ prefix: /a, path: /b }',
    '{ prefix: /a, regex: /b }',
    '{ path: /a, regex: /b }',
  ],
  'allowPublicUnauthenticatedAccess cannot be combined with policy, which nobody would check': [
    '{ allowPublicUnauthenticatedAccess: true, policy: {} }',
  ],
  'allowPublicUnauthenticatedAccess cannot be combined with allowAnyAuthenticatedUser': [
    '{ allowPublicUnauthenticatedAccess: true, allowAnyAuthenticatedUser: true }',
  ],
  'allowPublicUnauthenticatedAccess cannot be combined with mcp, whose callers always sign in': [
    '{ allowPublicUnauthenticatedAccess: true, mcp: { server: {} } }',
  ],
  'mcp cannot be combined with regex, because an MCP server has one URL': [
    '{ regex: /a, mcp: { server: {} } }',
  ],
  'mcp cannot be combined with allowWebsockets, because the policy does not see the messages in a WebSocket':
    ['{ allowWebsockets: true, mcp: { server: {} } }'],
  'must be at most 24h': ['{ timeouts: { request: 24h1ms } }'],
};

const PROVIDER = 'issuerUrl: https://idp.example.com, clientId: gatehouse';

const BROKEN_SETTINGS: Readonly<Record<string, readonly string[]>> = {
  'only one identity provider can have signIn set': [
    `identityProviders: [{ name: a, ${PROVIDER}, signIn: true }, { name: b, ${PROVIDER}, signIn: true }]`,
  ],
  'must include openid': [
    `identityProviders: [{ name: a, ${PROVIDER}, scopes: [email] }]`,
    `identityProviders: [{ name: a, ${PROVIDER}, scopes: [] }]`,
  ],
  'parameters of the protocol itself cannot be set': [
    `identityProviders: [{ name: a, ${PROVIDER}, authorizationParams: { state: x } }]`,
    `identityProviders: [{ name: a, ${PROVIDER}, authorizationParams: { redirect_uri: x } }]`,
  ],
  'must be more than 0s': [
    'cookie: { expiration: 0s }',
    'tokens: { externalTokenLifetime: 0h }',
    'tokens: { refreshTokenLifetime: 0ms }',
    'mcpUnusedClientLifetime: 0s',
  ],
  'must be at most 1h': ['outageGrace: 1h1s'],
  'must not be every address, for anyone could then claim any address': [
    'trustedProxies: [0.0.0.0/0]',
    'trustedProxies: ["::/000"]',
  ],
};

describe('every CEL rule', () => {
  test('of Route is broken by a manifest', () => {
    expect(Object.keys(BROKEN_ROUTES).sort()).toEqual(messagesIn(readCrdSchema('Route')));
  });

  test('of GatewaySettings is broken by a manifest', () => {
    expect(Object.keys(BROKEN_SETTINGS).sort()).toEqual(
      messagesIn(readCrdSchema('GatewaySettings')),
    );
  });

  test.each(flatten(BROKEN_ROUTES))('"%s" refuses a Route with %s', (message, yaml) => {
    const { from, to } = aRoute().spec;
    const spec = { from, to, ...(parse(yaml) as object) };

    expect(messagesOf({ ...aRoute(), spec })).toEqual([message]);
  });

  test.each(flatten(BROKEN_SETTINGS))('"%s" refuses settings with %s', (message, yaml) => {
    expect(messagesOf({ ...aSettings(), spec: parse(yaml) as unknown })).toEqual([message]);
  });
});

function messagesOf(document: unknown): readonly string[] {
  const validation = validateResource(document, 'test');
  return validation.kind === 'valid' ? [] : validation.problems.map(({ message }) => message);
}

function messagesIn(schema: CrdSchema): readonly string[] {
  return [...new Set(rulesIn(schema))].sort();
}

function rulesIn(schema: CrdSchema): readonly string[] {
  const { properties = {}, items, additionalProperties } = schema;
  const members = [...Object.values(properties), items, additionalProperties];
  return [
    ...(schema['x-kubernetes-validations'] ?? []).map(({ message }) => message),
    ...members.flatMap((member) => (member === undefined ? [] : rulesIn(member))),
  ];
}

function flatten(
  broken: Readonly<Record<string, readonly string[]>>,
): readonly (readonly [message: string, yaml: string])[] {
  return Object.entries(broken).flatMap(([message, manifests]) =>
    manifests.map((yaml) => [message, yaml] as const),
  );
}
