import { PROVIDER } from './provider.ts';

/** Changes of a Route's spec that leave it valid. */
export const VALID_ROUTES: readonly string[] = [
  'mcp: { server: {} }',
  'mcp: { server: { subPaths: [{ path: /sse }, { path: /files, inspected: false }] } }',
  'from: http://localhost:8080/',
  'from: https://[::1]:8443',
  'from: https://*.Example.com',
  'gatewayClassName: team-a.gateway',
  'backendRefs: [{ name: app, port: 80 }]',
  "backendRefs: [{ group: '', kind: Service, name: a.b, namespace: c, port: 65535, weight: 1000000 }]",
  'backendRefs: [{ name: app, port: 80 }, { name: app, port: 80, weight: 0 }]',
  // The compiler rejects other kinds than Service, with a reason of its own.
  'backendRefs: [{ kind: Bucket, group: example.com, name: app, port: 1 }]',
  'policy: { allow: { or: [{ accept: true }] }, unknown: [{ kept: for the compiler }] }',
  'policy: { deny: { or: [{ emial: { is: a } }], xor: 1 } }',
  'allowPublicUnauthenticatedAccess: true',
  '{ allowPublicUnauthenticatedAccess: false, policy: {} }',
  'timeouts: { request: 1h30m5s100ms }',
  'timeouts: { request: 0s }',
];

/** Specs of GatewaySettings that are valid. */
export const VALID_SETTINGS: readonly string[] = [
  '{}',
  'gatewayClassName: blue',
  `identityProviders: [{ ${PROVIDER}, authorizationParams: { prompt: login } }]`,
  `identityProviders: [{ ${PROVIDER}, groupsClaim: 'cognito:groups', requireVerifiedEmail: false }]`,
  `identityProviders: [{ ${PROVIDER}, groupsLookup: { url: 'https://g.example/a?$top=9', groupsPath: value, nextPage: next } }]`,
  `identityProviders: [{ ${PROVIDER}, groupsClaim: 'https://claims.example/groups' }]`,
  'authorizeLogFields: []',
  "mcpAllowedClientIdDomains: ['*.example.com', localhost]",
  'tokens: { refreshTokenGrace: 0s }',
  "trustedProxies: [10.0.0.1/32, 'fd00::/8', 10.0.0.0/10]",
  'mcpUnusedClientLifetime: 2160h',
  'outageGrace: 0s',
  'outageGrace: 1h',
  'allowedRoutes: {}',
  'allowedRoutes: { namespaces: {} }',
  'allowedRoutes: { namespaces: { from: Same } }',
  'allowedRoutes: { namespaces: { from: Selector, selector: {} } }',
  'allowedRoutes: { namespaces: { from: Selector, selector: { matchLabels: { team: a } } } }',
  'allowedRoutes: { namespaces: { from: Selector, selector: { matchExpressions: [{ key: team, operator: In, values: [a, b] }, { key: off, operator: DoesNotExist }] } } }',
  "sharedHosts: [apps.example.com, '*.apps.example.com']",
  "hostPatterns: [{ namespaces: [a, b], hosts: [a.example.com, '*.a.example.com'] }]",
  'hostHoldTime: 0s',
];
