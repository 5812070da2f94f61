import { PROVIDER } from './provider.ts';

const MACHINES = 'name: idp, issuerUrl: https://idp.example.com, audiences: [x]';
const CLUSTER = 'name: idp, issuerUrl: "kubernetes:///", audiences: [x]';
const GITHUB = 'name: idp, type: github, clientId: x, clientSecretRef: { name: idp, key: secret }';

const SERVICE = 'to: , backendRefs: [{ name: app, port: 80 }]';
const ENDPOINT =
  'endpoint: { authUrl: https://as.example.com/authorize, tokenUrl: https://as.example.com/token }';

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
  'exactly one of server and client must be set': ['mcp: {}', 'mcp: { client: {}, server: {} }'],
  'mcp.server cannot be combined with regex, because an MCP server has one URL': [
    '{ regex: /a, mcp: { server: {} } }',
  ],
  'mcp.client cannot be combined with idpAccessTokenAllowedAudiences, or a bearerTokenFormat other than default, because its users sign in':
    [
      '{ mcp: { client: {} }, bearerTokenFormat: jwt }',
      '{ mcp: { client: {} }, idpAccessTokenAllowedAudiences: [x] }',
    ],
  'mcp.server.upstreamOauth2 needs clientId, endpoint.authUrl and endpoint.tokenUrl with backendRefs, because discovery asks https upstreams only':
    [
      `{ ${SERVICE}, mcp: { server: { upstreamOauth2: {} } } }`,
      `{ ${SERVICE}, mcp: { server: { upstreamOauth2: { clientId: x, endpoint: {} } } } }`,
    ],
  'authorizationServerUrl needs upstreamOauth2 without endpoint.authUrl, because it is for discovery only':
    [
      'mcp: { server: { authorizationServerUrl: https://as.example.com } }',
      `mcp: { server: { authorizationServerUrl: https://as.example.com, upstreamOauth2: { clientId: x, ${ENDPOINT} } } }`,
    ],
  'clientSecretRef needs a clientId': [
    'mcp: { server: { upstreamOauth2: { clientSecretRef: { name: a, key: b } } } }',
  ],
  'endpoint.authUrl and endpoint.tokenUrl need a clientId': [
    `mcp: { server: { upstreamOauth2: { ${ENDPOINT} } } }`,
  ],
  'endpoint.authStyle needs a clientSecretRef, because without a secret there is nothing to authenticate with':
    [
      'mcp: { server: { upstreamOauth2: { endpoint: { authStyle: header } } } }',
      'mcp: { server: { upstreamOauth2: { clientId: x, endpoint: { authStyle: params } } } }',
    ],
  'authUrl and tokenUrl must be set together': [
    'mcp: { server: { upstreamOauth2: { clientId: x, endpoint: { authUrl: https://as.example.com/authorize } } } }',
    'mcp: { server: { upstreamOauth2: { clientId: x, endpoint: { tokenUrl: https://as.example.com/token } } } }',
  ],
  'mcp.server cannot be combined with allowWebsockets, because the policy does not see the messages in a WebSocket':
    ['{ allowWebsockets: true, mcp: { server: {} } }'],
  'websocketAllowedOrigins needs allowWebsockets': [
    '{ websocketAllowedOrigins: [https://chat.example.com] }',
    '{ allowWebsockets: false, websocketAllowedOrigins: [https://chat.example.com] }',
  ],
  'tls needs a from that begins with https': [
    '{ from: http://app.example.com, allowPublicUnauthenticatedAccess: true, tls: { certificateRefs: [{ name: a }] } }',
  ],
  'mcp.server.subPaths cannot be combined with path, which serves no other path; use prefix': [
    '{ path: /a, mcp: { server: { subPaths: [{ path: /b }] } } }',
  ],
  'allowPublicUnauthenticatedAccess cannot be combined with identityProvider, idpAccessTokenAllowedAudiences, or a bearerTokenFormat other than default, since callers need no identity':
    [
      '{ allowPublicUnauthenticatedAccess: true, identityProvider: idp }',
      '{ allowPublicUnauthenticatedAccess: true, idpAccessTokenAllowedAudiences: [x] }',
      '{ allowPublicUnauthenticatedAccess: true, bearerTokenFormat: jwt }',
    ],
  'must be at most 24h': ['{ timeouts: { request: 24h1ms } }'],
};

/** Settings that break one rule and nothing else, by the message of the rule. */
export const BROKEN_SETTINGS: Readonly<Record<string, readonly string[]>> = {
  'only one identity provider can have signIn set': [
    `identityProviders: [{ ${PROVIDER}, signIn: true }, { ${PROVIDER.replace('idp', 'other')}, signIn: true }]`,
  ],
  'must have an issuerUrl, unless type is github or apple': [
    'identityProviders: [{ name: idp, clientId: x }]',
    'identityProviders: [{ name: idp, type: oidc, audiences: [x] }]',
  ],
  'must have a clientId, to sign users in, or audiences, for jwt': [
    'identityProviders: [{ name: idp, issuerUrl: https://idp.example.com }]',
  ],
  'signIn, clientSecretRef, scopes, authorizationParams and groupsLookup need a clientId': [
    `identityProviders: [{ ${MACHINES}, signIn: true }]`,
    `identityProviders: [{ ${MACHINES}, clientSecretRef: { name: idp, key: secret } }]`,
    `identityProviders: [{ ${MACHINES}, scopes: [openid] }]`,
    `identityProviders: [{ ${MACHINES}, authorizationParams: { prompt: login } }]`,
    `identityProviders: [{ ${MACHINES}, groupsLookup: { url: 'https://g.example', groupsPath: value } }]`,
  ],
  'with issuerUrl kubernetes:/// it needs audiences, and cannot have a clientId, a jwksUrl, a caRef, or another type':
    [
      `identityProviders: [{ ${CLUSTER}, clientId: x }]`,
      `identityProviders: [{ ${CLUSTER}, type: apple }]`,
      `identityProviders: [{ ${CLUSTER}, jwksUrl: https://idp.example.com/keys }]`,
      `identityProviders: [{ ${CLUSTER}, caRef: { name: ca } }]`,
      'identityProviders: [{ name: idp, issuerUrl: "kubernetes:///", clientId: x }]',
    ],
  'jwksUrl needs audiences, since it is for jwt': [
    `identityProviders: [{ ${PROVIDER}, jwksUrl: https://idp.example.com/keys }]`,
  ],
  'accessTokenType needs a clientId, and is not for type github or apple': [
    `identityProviders: [{ ${MACHINES}, accessTokenType: jwt }]`,
    'identityProviders: [{ name: idp, type: apple, clientId: x, accessTokenType: jwt }]',
    `identityProviders: [{ ${GITHUB}, accessTokenType: at+jwt }]`,
  ],
  'with type github it needs a clientId and a clientSecretRef, and cannot have audiences, because GitHub has no identity tokens':
    [
      `identityProviders: [{ ${GITHUB}, audiences: [x] }]`,
      'identityProviders: [{ name: idp, type: github, clientId: x }]',
      'identityProviders: [{ name: idp, type: github, audiences: [x] }]',
    ],
  'groupsClaim and groupsLookup are not for type github, whose users have no groups': [
    `identityProviders: [{ ${GITHUB}, groupsClaim: teams }]`,
    `identityProviders: [{ ${GITHUB}, groupsLookup: { url: https://api.github.com/user/teams, groupsPath: slug } }]`,
  ],
  'scopes must include openid': [
    `identityProviders: [{ ${PROVIDER}, scopes: [email] }]`,
    `identityProviders: [{ ${PROVIDER}, scopes: [] }]`,
  ],
  'parameters of the protocol itself cannot be set': [
    `identityProviders: [{ ${PROVIDER}, authorizationParams: { state: x } }]`,
    `identityProviders: [{ ${PROVIDER}, authorizationParams: { redirect_uri: x } }]`,
  ],
  'must not name a header field that may have credentials': [
    'authorizeLogFields: [headers.Authorization]',
    'authorizeLogFields: [headers.cookie]',
    'authorizeLogFields: [headers.SET-COOKIE]',
    'authorizeLogFields: [headers.Proxy-Authorization]',
    'authorizeLogFields: [headers.X-Gateway-Assertion]',
    'authorizeLogFields: [headers.X-Gateway-Anything]',
    'authorizeLogFields: [headers.Mcp-Session-Id]',
    'authorizeLogFields: [headers.X-API-Key]',
    'authorizeLogFields: [headers.X-Vault-Token]',
    'authorizeLogFields: [headers.Sec-WebSocket-Protocol]',
    'accessLog: { fields: [headers.Cookie] }',
  ],
  'exactly one of value and valueFrom must be set': [
    'tracing: { headers: [{ name: X-Api-Key }] }',
    'tracing: { tracesHeaders: [{ name: a, value: b, valueFrom: { secretKeyRef: { name: c, key: d } } }] }',
  ],
  'must be at most 1': ["tracing: { samplerArg: '2' }", "tracing: { samplerArg: '1e1' }"],
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
  'must be more than 0s and at most 1h': [
    'tokens: { opaqueTokenLifetime: 0s }',
    'tokens: { opaqueTokenLifetime: 61m }',
  ],
  'must be at most 720h': ['hostHoldTime: 721h'],
  'must not be every address, since anyone could then claim any address': [
    'trustedProxies: [0.0.0.0/0]',
    'trustedProxies: ["::/000"]',
  ],
};
