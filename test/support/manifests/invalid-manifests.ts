import { INVALID_TELEMETRY } from './invalid-telemetry.ts';
import type { InvalidManifest } from './invalid-manifest.ts';
import { PROVIDER } from './provider.ts';

const NAME = 'must consist of lower-case letters, digits, "-" and "."';
const HOST = 'must be a domain such as example.com or *.example.com, in lower case';

/** Changes of a Route's spec that an API server admits, since it removes null values. */
export const INVALID_NULLS: readonly InvalidManifest[] = [
  ['prefix:', 'spec.prefix: must be a string'],
  ['mcp: { client: }', 'spec.mcp.client: must be an object'],
  ['mcp: { server: { upstreamOauth2: } }', 'spec.mcp.server.upstreamOauth2: must be an object'],
  ['mcp: { server: }', 'spec.mcp.server: must be an object'],
];

/** Changes of a Route's spec that make it invalid by its schema. */
export const INVALID_ROUTES: readonly InvalidManifest[] = [
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
  [
    'passRequestHeaders: [X-Ok, "X-Ok: 1"]',
    'spec.passRequestHeaders[1]: must be the name of a header field such as X-Real-IP',
  ],
  ['tls: {}', 'spec.tls.certificateRefs: is required'],
  ['tls: { certificateRefs: [] }', 'spec.tls.certificateRefs: must not be empty'],
  [
    'tls: { certificateRefs: [{ name: a, key: tls.crt }] }',
    'spec.tls.certificateRefs[0].key: is not a known field',
  ],
  ['passResponseHeaders: []', 'spec.passResponseHeaders: must not be empty'],
  [
    "{ allowWebsockets: true, websocketAllowedOrigins: ['*'] }",
    'spec.websocketAllowedOrigins[0]: must be a scheme, host and optional port such as https://app.example.com, without a path',
  ],
  ['mcp: { client: { path: /a } }', 'spec.mcp.client.path: is not a known field'],
  [
    'mcp: { server: { upstream_oauth2: {} } }',
    'spec.mcp.server.upstream_oauth2: is not a known field; did you mean "upstreamOauth2"?',
  ],
  [
    'mcp: { server: { upstreamOauth2: { client_id: x } } }',
    'spec.mcp.server.upstreamOauth2.client_id: is not a known field; did you mean "clientId"?',
  ],
  [
    'mcp: { server: { upstreamOauth2: { clientId: x, clientSecretRef: { name: a } } } }',
    'spec.mcp.server.upstreamOauth2.clientSecretRef.key: is required',
  ],
  [
    'mcp: { server: { upstreamOauth2: { scopes: [] } } }',
    'spec.mcp.server.upstreamOauth2.scopes: must not be empty',
  ],
  [
    'mcp: { server: { upstreamOauth2: { scopes: [a b] } } }',
    'spec.mcp.server.upstreamOauth2.scopes[0]: must not contain spaces, quotes or backslashes',
  ],
  [
    'mcp: { server: { upstreamOauth2: { scopes: [a, a] } } }',
    'spec.mcp.server.upstreamOauth2.scopes[1]: has the same value as an earlier item',
  ],
  [
    "mcp: { server: { upstreamOauth2: { clientId: '' } } }",
    'spec.mcp.server.upstreamOauth2.clientId: must not be empty',
  ],
  [
    'mcp: { server: { upstreamOauth2: { clientId: x, endpoint: { authUrl: "https://a.example.com#x", tokenUrl: https://a.example.com } } } }',
    'spec.mcp.server.upstreamOauth2.endpoint.authUrl: must be an http or https URL without fragment',
  ],
  [
    'mcp: { server: { upstreamOauth2: {}, authorizationServerUrl: "https://a.example.com?x=1" } }',
    'spec.mcp.server.authorizationServerUrl: must be an http or https URL without query and fragment',
  ],
  [
    'mcp: { server: { upstreamOauth2: { authorizationUrlParams: { prompt: 1 } } } }',
    'spec.mcp.server.upstreamOauth2.authorizationUrlParams.prompt: must be a string',
  ],
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
  [
    'mcp: { server: { sub_paths: [] } }',
    'spec.mcp.server.sub_paths: is not a known field; did you mean "subPaths"?',
  ],
  [
    'mcp: { server: { subPaths: [{ inspected: false }] } }',
    'spec.mcp.server.subPaths[0].path: is required',
  ],
  [
    'mcp: { server: { subPaths: [{ path: files }] } }',
    'spec.mcp.server.subPaths[0].path: must begin with "/"',
  ],
  [
    'mcp: { server: { subPaths: [{ path: /a, inspected: "no" }] } }',
    'spec.mcp.server.subPaths[0].inspected: must be a boolean',
  ],
  [
    'mcp: { server: { toolDenial: yes } }',
    'spec.mcp.server.toolDenial: must be one of error, result',
  ],
  ['policy: { allow: { or: [{}] } }', 'spec.policy.allow.or[0]: must not be empty'],
  [
    'policy: { allow: { or: [{ email: a, user: b }] } }',
    'spec.policy.allow.or[0]: must have at most 1 field',
  ],
  ['policy: { deny: { and: [accept] } }', 'spec.policy.deny.and[0]: must be an object'],
  ['policy: { deny: { and: {} } }', 'spec.policy.deny.and: must be an array'],
  [
    'timeouts: { request: 60 }',
    'spec.timeouts.request: must be a duration such as 90s, 1h30m or 500ms (Gateway API, GEP-2257)',
  ],
  [
    'mcp: { server: { toolDenial: [error] } }',
    'spec.mcp.server.toolDenial: must be one of error, result',
  ],
  [
    'timeouts: { request: 60 s }',
    'spec.timeouts.request: must be a duration such as 90s, 1h30m or 500ms (Gateway API, GEP-2257)',
  ],
  [`regex: '${'a'.repeat(1025)}'`, 'spec.regex: must have at most 1024 characters'],
  ['from:', 'spec.from: is required'],
  ['gatewayClassName: Blue', `spec.gatewayClassName: ${NAME}`],
  ['backendRefs: []', 'spec.backendRefs: must not be empty'],
  ['backendRefs: [{ name: app }]', 'spec.backendRefs[0].port: is required'],
  ['backendRefs: [{ port: 80 }]', 'spec.backendRefs[0].name: is required'],
  ['backendRefs: [{ name: App, port: 80 }]', `spec.backendRefs[0].name: ${NAME}`],
  [
    'backendRefs: [{ name: a, port: 80 }, { name: app, namespace: a.b, port: 80 }]',
    'spec.backendRefs[1].namespace: must consist of lower-case letters, digits and "-"',
  ],
  ['backendRefs: [{ name: app, port: 0 }]', 'spec.backendRefs[0].port: must be at least 1'],
  ['backendRefs: [{ name: app, port: 65536 }]', 'spec.backendRefs[0].port: must be at most 65535'],
  ['backendRefs: [{ name: app, port: http }]', 'spec.backendRefs[0].port: must be an integer'],
  [
    'backendRefs: [{ name: app, port: 80, weight: -1 }]',
    'spec.backendRefs[0].weight: must be at least 0',
  ],
  [
    'backendRefs: [{ name: app, port: 80, weight: 1000001 }]',
    'spec.backendRefs[0].weight: must be at most 1000000',
  ],
  [
    'backendRefs: [{ name: app, port: 80, namespcae: a }]',
    'spec.backendRefs[0].namespcae: is not a known field; did you mean "namespace"?',
  ],
  [
    `backendRefs: [${'{ name: app, port: 80 }, '.repeat(17)}]`,
    'spec.backendRefs: must have at most 16 items',
  ],
];

/** Specs of GatewaySettings that are invalid by their schema. */
export const INVALID_SETTINGS: readonly InvalidManifest[] = [
  [
    'authenticate_url: https://a',
    'spec.authenticate_url: is not a known field; did you mean "authenticateUrl"?',
  ],
  [
    'identityProviders: [{ name: idp, issuerUrl: "kubernetes://elsewhere/", audiences: [x] }]',
    'spec.identityProviders[0].issuerUrl: must be an http or https URL without query and fragment, or kubernetes:///',
  ],
  [
    `identityProviders: [{ ${PROVIDER} }, { ${PROVIDER} }]`,
    'spec.identityProviders[1]: has the same name as an earlier item',
  ],
  [
    `identityProviders: [{ ${PROVIDER}, clientSecretRef: { name: idp } }]`,
    'spec.identityProviders[0].clientSecretRef.key: is required',
  ],
  [
    `identityProviders: [{ ${PROVIDER}, scopes: [openid, email, email] }]`,
    'spec.identityProviders[0].scopes[2]: has the same value as an earlier item',
  ],
  [
    `identityProviders: [{ ${PROVIDER}, groupsLookup: { url: 'https://g.example/a#b', groupsPath: value } }]`,
    'spec.identityProviders[0].groupsLookup.url: must be an http or https URL without fragment',
  ],
  [
    `identityProviders: [{ ${PROVIDER}, groupsLookup: { url: 'https://g.example', groupsPath: /a } }]`,
    'spec.identityProviders[0].groupsLookup.groupsPath: must be a path such as value/id',
  ],
  [
    `identityProviders: [{ ${PROVIDER}, groupsLookup: { url: 'https://g.example' } }]`,
    'spec.identityProviders[0].groupsLookup.groupsPath: is required',
  ],
  ...['/groups', 'groups/', 'a//b', ''].map((claim): InvalidManifest => [
    `identityProviders: [{ ${PROVIDER}, groupsClaim: '${claim}' }]`,
    'spec.identityProviders[0].groupsClaim: must be the name of a claim, a path such as realm_access/roles, or a URL',
  ]),
  [
    'mcpAllowedAsMetadataDomains: [https://example.com]',
    'spec.mcpAllowedAsMetadataDomains[0]: must be a domain such as example.com or *.example.com, in lower case',
  ],
  [
    'mcpClientNamespaces: [Apps]',
    'spec.mcpClientNamespaces[0]: must consist of lower-case letters, digits and "-"',
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
    'spec.trustedProxies[1]: has the same value as an earlier item',
  ],
  ['outageGrace: 90m', 'spec.outageGrace: must be at most 1h'],
  ['mcpUnusedClientLifetime: 0h', 'spec.mcpUnusedClientLifetime: must be more than 0s'],
  ['cookie: { sameSite: lax }', 'spec.cookie.sameSite: must be one of Lax, Strict, None'],
  ['authorizeLogFields: user', 'spec.authorizeLogFields: must be an array'],
  ...INVALID_TELEMETRY,
  ['signingKeyRefs: [1, 2, 3, 4, 5]', 'spec.signingKeyRefs: must have at most 4 items'],
  ['gatewayClassName: -blue', `spec.gatewayClassName: ${NAME}`],
  [
    'allowedRoutes: { namespaces: { from: Some } }',
    'spec.allowedRoutes.namespaces.from: must be one of All, Same, Selector',
  ],
  [
    'allowedRoutes: { namespaces: { from: Selector, selector: { matchExpressions: [{ operator: Exists }] } } }',
    'spec.allowedRoutes.namespaces.selector.matchExpressions[0].key: is required',
  ],
  [
    'allowedRoutes: { namespaces: { from: Selector, selector: { matchExpressions: [{ key: a, operator: Like }] } } }',
    'spec.allowedRoutes.namespaces.selector.matchExpressions[0].operator: must be one of In, NotIn, Exists, DoesNotExist',
  ],
  [
    'allowedRoutes: { namespaces: { from: Selector, selector: { matchLabels: { team: 1 } } } }',
    'spec.allowedRoutes.namespaces.selector.matchLabels.team: must be a string',
  ],
  [
    'hostPatterns: [{ namespaces: [a], hosts: [A.example.com] }]',
    `spec.hostPatterns[0].hosts[0]: ${HOST}`,
  ],
  [
    'hostPatterns: [{ namespaces: [a], hosts: [] }]',
    'spec.hostPatterns[0].hosts: must not be empty',
  ],
  ['hostPatterns: [{ hosts: [a.example.com] }]', 'spec.hostPatterns[0].namespaces: is required'],
  ['sharedHosts: [https://apps.example.com]', `spec.sharedHosts[0]: ${HOST}`],
  ['sharedHosts: [apps.example.com, Apps.example.com]', `spec.sharedHosts[1]: ${HOST}`],
  [
    'sharedHosts: [a.example.com, a.example.com]',
    'spec.sharedHosts[1]: has the same value as an earlier item',
  ],
];
