import { PROVIDER } from './provider.ts';

/** Manifests that break one rule and nothing else, by the message of the rule. */
export const BROKEN_ROUTES: Readonly<Record<string, readonly string[]>> = {
  'exactly one of to and backendRefs must be set': [
    '{ to: http://app, backendRefs: [{ name: app, port: 80 }] }',
    'to:',
  ],
  'at most one of prefix, path and regex can be set': [
    '{ prefix: /a, path: /b }',
    '{ prefix: /a, regex: /b }',
    '{ path: /a, regex: /b }',
  ],
  'allowPublicUnauthenticatedAccess cannot be combined with policy, which would not be checked': [
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
  'websocketAllowedOrigins needs allowWebsockets': [
    '{ websocketAllowedOrigins: [https://chat.example.com] }',
    '{ allowWebsockets: false, websocketAllowedOrigins: [https://chat.example.com] }',
  ],
  'mcp.server.subPaths cannot be combined with path, which serves no other path; use prefix': [
    '{ path: /a, mcp: { server: { subPaths: [{ path: /b }] } } }',
  ],
  'must be at most 24h': ['{ timeouts: { request: 24h1ms } }'],
};

/** Settings that break one rule and nothing else, by the message of the rule. */
export const BROKEN_SETTINGS: Readonly<Record<string, readonly string[]>> = {
  'only one identity provider can have signIn set': [
    `identityProviders: [{ ${PROVIDER}, signIn: true }, { ${PROVIDER.replace('idp', 'other')}, signIn: true }]`,
  ],
  'must include openid': [
    `identityProviders: [{ ${PROVIDER}, scopes: [email] }]`,
    `identityProviders: [{ ${PROVIDER}, scopes: [] }]`,
  ],
  'parameters of the protocol itself cannot be set': [
    `identityProviders: [{ ${PROVIDER}, authorizationParams: { state: x } }]`,
    `identityProviders: [{ ${PROVIDER}, authorizationParams: { redirect_uri: x } }]`,
  ],
  'must be more than 0s': [
    'cookie: { expiration: 0s }',
    'tokens: { externalTokenLifetime: 0h }',
    'tokens: { refreshTokenLifetime: 0ms }',
    'mcpUnusedClientLifetime: 0s',
  ],
  'selector must be set if from is Selector, and only then': [
    'allowedRoutes: { namespaces: { from: Selector } }',
    'allowedRoutes: { namespaces: { from: Same, selector: {} } }',
    'allowedRoutes: { namespaces: { selector: { matchLabels: { team: a } } } }',
  ],
  'values must be set for In and NotIn, and only for them': [
    'allowedRoutes: { namespaces: { from: Selector, selector: { matchExpressions: [{ key: a, operator: In }] } } }',
    'allowedRoutes: { namespaces: { from: Selector, selector: { matchExpressions: [{ key: a, operator: NotIn, values: [] }] } } }',
    'allowedRoutes: { namespaces: { from: Selector, selector: { matchExpressions: [{ key: a, operator: Exists, values: [b] }] } } }',
  ],
  'must be at most 1h': ['outageGrace: 1h1s'],
  'must be at most 720h': ['hostHoldTime: 721h'],
  'must not be every address, since anyone could then claim any address': [
    'trustedProxies: [0.0.0.0/0]',
    'trustedProxies: ["::/000"]',
  ],
};
