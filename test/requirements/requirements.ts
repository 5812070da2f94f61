/** One rule the product promises to keep. */
export interface Requirement {
  /** The specification's heading, or the document and section. */
  readonly source: string;
  readonly behavior: string;
}

const SPEC = {
  route: 'specification: Route',
  mcpServer: 'specification: MCP server configuration',
  patterns: 'specification: What the service does',
  global: 'specification: Global MCP settings',
  tokens: 'specification: Tokens',
  assertion: 'specification: Identity assertion',
  log: 'specification: Authorization log record',
  bearer: 'specification: Bearer token format rules',
  policy: 'specification: Authorization policy for MCP',
  endpoints: 'specification: Endpoints',
  authentication: 'specification: Authentication',
  errors: 'specification: Errors',
  limits: 'specification: Limits',
  states: 'specification: States and transitions',
} as const;

const MCP = 'MCP 2026-07-28, Authorization';
const TRANSPORT = 'MCP, Streamable HTTP';

/** Every rule that is cited by a test, and must be: `coverage.test.ts` counts. */
export const REQUIREMENTS = {
  'route.from-to': {
    source: SPEC.route,
    behavior: 'A request to `from` is forwarded to `to`.',
  },
  'route.unknown-host': {
    source: SPEC.route,
    behavior: 'A request to a host that is no `from` is not served.',
  },
  'route.ambiguous-path': {
    source: 'docs/decisions.md: D-003',
    behavior:
      'Where the path decides who may do what, one that can be read in two ways is refused; elsewhere it passes byte for byte.',
  },
  'route.forwarded-headers': {
    source: 'RFC 9700, section 4.13',
    behavior:
      'What upstreams hear of the origin of a request (`X-Forwarded-*`, ...) is what the gateway saw.',
  },
  'route.client-address': {
    source: 'GatewaySettings: trustedProxies',
    behavior:
      'A client is who connected; behind trusted proxies, the last in `X-Forwarded-For` that is none of them.',
  },
  'route.gateway-cookies': {
    source: 'docs/sign-in.md: Cookies',
    behavior: 'Upstreams neither see the gateway’s cookies nor set them; all others pass.',
  },
  'route.policy': {
    source: SPEC.route,
    behavior: 'A route may carry a policy; who it does not allow is denied.',
  },
  'bearer.default-unchanged': {
    source: SPEC.bearer,
    behavior:
      'By default `Authorization: Bearer` passes to the upstream unchanged and uninterpreted, except on MCP server routes.',
  },

  'web.sign-in-redirect': {
    source: 'docs/sign-in.md: What happens',
    behavior:
      'Without a session a navigation is sent to sign in and comes back to the page it asked for; all else is 401.',
  },
  'web.session': {
    source: 'docs/sign-in.md: Cookies',
    behavior: 'A session cookie stands for its user, at the host it was set for, until it ends.',
  },
  'web.public': {
    source: 'Route: allowPublicUnauthenticatedAccess',
    behavior: 'A public route is served to everyone, without sign-in.',
  },
  'web.any-user': {
    source: 'Route: allowAnyAuthenticatedUser',
    behavior: 'A route for any authenticated user takes everyone who is signed in.',
  },
  'web.websockets': {
    source: 'Route: allowWebsockets',
    behavior:
      'WebSockets pass where the route allows them, after the same checks as requests; never on MCP routes.',
  },

  'mcp.register-sign-in-token-call': {
    source: SPEC.patterns,
    behavior: 'An MCP client registers, the user signs in, the client gets TE and calls the route.',
  },
  'mcp.token-required': {
    source: SPEC.endpoints,
    behavior: 'An MCP server route takes `Authorization: Bearer <TE>`, and 401 without one.',
  },
  'mcp.never-redirects': {
    source: SPEC.authentication,
    behavior: 'An MCP server route never redirects to sign-in.',
  },
  'mcp.policy-on-every-request': {
    source: SPEC.endpoints,
    behavior: 'Policy is evaluated on every request to an MCP server route.',
  },
  'mcp.upstream-without-auth': {
    source: SPEC.patterns,
    behavior: 'The upstream needs no authentication logic, and never sees TE.',
  },
  'mcp.path-appended': {
    source: SPEC.mcpServer,
    behavior: '`mcp.server.path` is appended to the upstream URL.',
  },
  'mcp.max-request-bytes': {
    source: SPEC.limits,
    behavior: 'A body longer than `max_request_bytes` (default 4 KiB) is refused.',
  },

  'client-id.domain-checked-first': {
    source: SPEC.global,
    behavior: 'The domain of a URL client ID is checked before its document is fetched.',
  },
  'client-id.wildcard': {
    source: SPEC.global,
    behavior: '`*.<domain>` matches subdomains but not the bare domain.',
  },
  'client-id.url': {
    source: SPEC.authentication,
    behavior: 'A client ID may be the URL of a client ID metadata document.',
  },
  'errors.client-id-domain-page': {
    source: SPEC.errors,
    behavior:
      'A client ID of a domain that is not allowed is answered with a page that says so, with the request ID and the client ID.',
  },
  'errors.auth-flow-page': {
    source: SPEC.errors,
    behavior: 'An error while starting the auth flow, such as a wrong issuer URL, shows a page.',
  },
  'errors.tool-denied': {
    source: SPEC.errors,
    behavior: 'A tool call that policy denies is denied, and logged `mcp-tool-unauthorized`.',
  },

  'tokens.external-represents-session': {
    source: SPEC.tokens,
    behavior: 'TE stands for the session of its user: it authenticates as long as that lives.',
  },
  'tokens.external-refreshed': {
    source: SPEC.tokens,
    behavior: 'TE is refreshed without the user, by the refresh token that came with it.',
  },
  'tokens.access-short-lived': {
    source: SPEC.tokens,
    behavior: 'MCP access tokens live for minutes, and never longer than the session.',
  },
  'tokens.external-limited': {
    source: SPEC.tokens,
    behavior: 'TE has a limited scope and lifetime: one route, and minutes.',
  },
  'tokens.refresh-rotated': {
    source: SPEC.tokens,
    behavior: 'Refresh tokens are long-lived and rotated on each use.',
  },
  'states.session-recreated': {
    source: SPEC.states,
    behavior:
      'Session expired, refresh request, the provider’s refresh token still yields fresh credentials: a new session, and new MCP access and refresh tokens.',
  },
  'states.recreation-steps': {
    source: SPEC.states,
    behavior:
      'Refresh request, session found expired, the stored refresh token gives a new identity, a new session with it, new tokens.',
  },
  'states.current-policies': {
    source: SPEC.states,
    behavior: 'Current policies apply to the new session, with the identity of now.',
  },
  'states.session-stays-expired': {
    source: SPEC.states,
    behavior:
      'Session expired, refresh request, the provider’s refresh token expired, revoked or the account disabled: the session stays expired and the client gets `invalid_grant`.',
  },
  'states.outlives-cookie': {
    source: SPEC.states,
    behavior: 'MCP sessions can outlive `cookie_expiration`.',
  },
  'states.bounded-lifetime': {
    source: SPEC.states,
    behavior:
      'The life of an MCP session is bounded by that of the MCP refresh token and of the provider’s.',
  },
  'errors.refresh-invalid-grant': {
    source: SPEC.errors,
    behavior:
      'A refresh request when the provider’s refresh token is no good any more gets `invalid_grant`, and the client must authenticate again.',
  },
  'renewal.one-copy': {
    source: 'docs/tokens.md: When the session has expired',
    behavior:
      'All clients of a sign-in share one copy of the provider’s refresh token: providers that rotate it keep them all connected.',
  },
  'renewal.single-flight': {
    source: 'docs/tokens.md: When the session has expired',
    behavior: 'One request over all proxies asks the provider, and all get its session.',
  },
  'renewal.rotated-token-kept': {
    source: 'docs/tokens.md: When the session has expired',
    behavior: 'A refresh token that the provider rotated is not lost, whatever fails after that.',
  },
  'renewal.provider-unavailable': {
    source: 'docs/tokens.md: When the session has expired',
    behavior:
      'A provider that is down or slow is 503 `temporarily_unavailable` with Retry-After, and uses up nothing.',
  },
  'renewal.revoked': {
    source: 'docs/tokens.md: When the session has expired',
    behavior: 'A session that was revoked is not made anew.',
  },
  'renewal.same-provider': {
    source: 'docs/tokens.md: When the session has expired',
    behavior:
      'The refresh token goes to the provider and client it was issued to, and to no other.',
  },
  'renewal.same-user': {
    source: 'OpenID Connect Core, section 12.2',
    behavior: 'A refresh that names another user ends the sign-in.',
  },
  'renewal.offline-access': {
    source: 'docs/sign-in.md: Refresh tokens of the provider',
    behavior: 'Without scopes in the settings `offline_access` is asked for where it is listed.',
  },
  'endpoints.refresh': {
    source: SPEC.endpoints,
    behavior: '`grant_type=refresh_token` gives a new access token and a rotated refresh token.',
  },
  'endpoints.reserved-prefix': {
    source: SPEC.endpoints,
    behavior: 'The path prefix `/.gateway/` is reserved: nothing under it reaches an upstream.',
  },

  'assertion.header': {
    source: SPEC.assertion,
    behavior: 'Upstreams of authenticated routes get `X-Gateway-Assertion`; clients cannot set it.',
  },
  'assertion.claims': {
    source: SPEC.assertion,
    behavior: 'The assertion has the claims email, groups, iss, name, sub and aud.',
  },
  'assertion.verifiable': {
    source: SPEC.assertion,
    behavior: 'The assertion can be verified with a standard JWT library.',
  },

  'log.record': {
    source: SPEC.log,
    behavior: 'Every authorization check emits one record of the listed fields.',
  },
  'log.fields-selected': {
    source: SPEC.log,
    behavior: '`authorize_log_fields` selects the fields; MCP fields only if named.',
  },
  'log.mcp-fields': {
    source: SPEC.log,
    behavior:
      '`tools/list` logs `mcp-method`; `tools/call` also `mcp-tool` and `mcp-tool-parameters`.',
  },
  'log.reasons': {
    source: SPEC.log,
    behavior: 'Reasons are codes: `domain-ok`, `mcp-tool-ok`, `mcp-tool-unauthorized`, ...',
  },

  'policy.groups-of-criteria': {
    source: SPEC.policy,
    behavior: '`allow` and `deny` hold lists of criteria; deny wins.',
  },
  'policy.operator-is': { source: SPEC.policy, behavior: '`is` matches the exact name.' },
  'policy.operator-starts-with': { source: SPEC.policy, behavior: '`starts_with`: prefix.' },
  'policy.operator-ends-with': { source: SPEC.policy, behavior: '`ends_with`: suffix.' },
  'policy.operator-contains': { source: SPEC.policy, behavior: '`contains`: substring.' },
  'policy.operator-in': { source: SPEC.policy, behavior: '`in`: one of the values.' },
  'policy.operator-not-in': { source: SPEC.policy, behavior: '`not_in`: none of the values.' },
  'policy.tool-only-for-calls': {
    source: SPEC.policy,
    behavior: 'Rule 1: `mcp_tool` is false for every method but `tools/call`.',
  },
  'policy.tool-name-of-payload': {
    source: SPEC.policy,
    behavior: 'Rule 2: the name matched is the `name` in the payload.',
  },
  'policy.deny-spares-other-methods': {
    source: SPEC.policy,
    behavior: 'Rule 3: under `deny`, requests that call no tool are not blocked by `mcp_tool`.',
  },
  'policy.allow-needs-other-clauses': {
    source: SPEC.policy,
    behavior: 'Rule 4: only under `allow`, `mcp_tool` does not allow other methods.',
  },
  'policy.tool-reasons': {
    source: SPEC.policy,
    behavior:
      'Rule 5: a permitted tool logs allow true and `mcp-tool-ok`, a blocked one allow false and `mcp-tool-unauthorized`.',
  },

  'as.metadata': {
    source: 'RFC 8414, section 3',
    behavior: 'Metadata are served at both well-known names, with and without a path.',
  },
  'as.metadata-members': {
    source: 'RFC 8414, sections 2 and 3.2',
    behavior: 'Every endpoint, grant type and way to authenticate is named; lists are never empty.',
  },
  'as.metadata-issuer': {
    source: 'RFC 8414, section 3.3; RFC 9207, section 2',
    behavior:
      'The issuer is the origin of `from`, the same string everywhere, never taken from a request.',
  },
  'as.https': {
    source: 'OAuth 2.1, section 1.5',
    behavior: 'An authorization server is https, or on loopback with the development flag.',
  },
  'as.pkce-advertised': {
    source: MCP,
    behavior: '`code_challenge_methods_supported` is S256 in both documents.',
  },
  'as.pkce-required': {
    source: `${MCP}; RFC 7636`,
    behavior: 'PKCE with S256 is required of every client; `plain` is refused.',
  },
  'as.pkce-verifier': {
    source: 'RFC 7636, sections 4.1 and 4.6',
    behavior: 'A verifier has 43 to 128 unreserved characters, and its SHA-256 is the challenge.',
  },
  'as.grant-types': {
    source: 'RFC 9700, sections 2.1.2 and 2.4',
    behavior:
      'Codes and refresh tokens are the only grants: neither the implicit one nor passwords.',
  },
  'as.redirect-uri-exact': {
    source: `${MCP}; OAuth 2.1, section 4.1.1`,
    behavior: 'Redirect URIs match exactly, but for the port of loopback ones.',
  },
  'as.redirect-uri-allowed': {
    source: MCP,
    behavior: 'Redirect URIs are https, loopback, or a private-use scheme; never a script scheme.',
  },
  'as.no-open-redirect': {
    source: `${MCP}; OAuth 2.1, section 7.12.2`,
    behavior:
      'Nothing redirects to a URI that was not validated, or that the user did not agree to.',
  },
  'as.authorization-response': {
    source: 'RFC 6749, section 4.1.2',
    behavior:
      'The answer is added to the redirect URI, whose own query stays; `state` comes back as it was.',
  },
  'as.authorization-errors': {
    source: 'RFC 6749, section 4.1.2.1',
    behavior:
      'A client that is known hears by redirect, with a code of the section, why it gets no code.',
  },
  'as.no-repeated-parameters': {
    source: 'RFC 6749, sections 3.1 and 3.2',
    behavior: 'A parameter that comes twice is refused.',
  },
  'as.redirect-with-get': {
    source: 'RFC 9700, section 4.12',
    behavior: 'A posted form is answered with 303, so that nothing of it is posted on.',
  },
  'as.consent': {
    source: `${MCP}, Security Considerations`,
    behavior: 'The user consents per client, on a page that shows the redirect host.',
  },
  'as.consent-page-protected': {
    source: 'RFC 9700, section 4.16; MCP Security Best Practices',
    behavior: 'The consent page cannot be framed, and its form cannot be forged.',
  },
  'as.consent-request-once': {
    source: 'MCP Security Best Practices',
    behavior: 'A request for consent is answered once, within ten minutes.',
  },
  'as.session-cookie': {
    source: 'MCP Security Best Practices',
    behavior: 'Cookies are `__Host-`, Secure, HttpOnly and SameSite=Lax.',
  },
  'as.client-text-untrusted': {
    source: 'RFC 7591, section 5',
    behavior: 'What a client says of itself is shown as plain text.',
  },
  'as.resource': {
    source: 'RFC 8707, section 2',
    behavior: '`resource` binds the audience; an unknown one is `invalid_target`.',
  },
  'as.iss': {
    source: 'RFC 9207, section 2',
    behavior: 'Authorization responses, errors included, carry `iss`, and metadata say so.',
  },
  'as.code-grant': {
    source: 'OAuth 2.1, section 4.1',
    behavior: 'A code is redeemed for tokens, by public clients and by confidential ones.',
  },
  'as.code-single-use': {
    source: 'RFC 9700, section 4.5',
    behavior: 'A code is used once; its reuse revokes what it gave.',
  },
  'as.code-short-lived': {
    source: 'RFC 6749, section 4.1.2',
    behavior: 'A code is good for a minute.',
  },
  'as.code-bound': {
    source: 'RFC 6749, section 4.1.3',
    behavior: 'A code is good for its client, redirect URI, issuer and verifier only.',
  },
  'as.client-authentication': {
    source: 'RFC 6749, section 2.3',
    behavior: 'Confidential clients authenticate; failure is 401 `invalid_client`.',
  },
  'as.client-assertion': {
    source: 'RFC 7523, section 3',
    behavior:
      'An assertion counts once: of and by the client, for this server, signed by its key, in time.',
  },
  'as.parameters-in-body': {
    source: 'OAuth 2.1, sections 2.4.1 and 3.2',
    behavior: 'Token and revocation requests are posted; nothing of them is taken from the query.',
  },
  'as.token-errors': {
    source: 'RFC 6749, section 5.2',
    behavior: 'A token request that fails is answered with 400 or 401 and a code of the section.',
  },
  'as.replay-detection': {
    source: 'OAuth 2.1, section 4.3',
    behavior: 'Replay of a rotated refresh token revokes its family.',
  },
  'as.refresh-grace': {
    source: 'docs/decisions.md: D-052',
    behavior: 'Within the grace a rotated token gives the same successor: a family never branches.',
  },
  'as.refresh-token-bound': {
    source: 'OAuth 2.1, section 4.3',
    behavior: 'A refresh token is good for its own client only.',
  },
  'as.refresh-token-expires': {
    source: 'OAuth 2.1, section 4.3; RFC 9700, section 4.14.2',
    behavior: 'A refresh token that is not used expires.',
  },
  'as.grant-active': {
    source: 'OAuth 2.1, section 4.3',
    behavior: 'Tokens and codes end with their grant and their session.',
  },
  'as.bound-to-issuer': {
    source: 'docs/tokens.md',
    behavior: 'What is registered or issued at one host means nothing at another.',
  },
  'as.scope-not-exceeded': {
    source: 'OAuth 2.1, section 4.3',
    behavior: 'A refreshed scope never exceeds the granted one.',
  },
  'as.no-store': {
    source: 'RFC 6749, section 5.1',
    behavior: 'Responses with tokens are never cached.',
  },
  'as.token-integrity': {
    source: 'RFC 6750, section 5.2',
    behavior: 'An external token can be neither read, nor changed, nor made up.',
  },
  'as.secrets-unreadable': {
    source: `${MCP}, Security Considerations`,
    behavior: 'Neither stores nor logs have a token, code or client secret that could be used.',
  },
  'as.registration': {
    source: 'RFC 7591, section 3',
    behavior: 'A client registers itself: 201 with everything that was registered.',
  },
  'as.registration-ids': {
    source: 'OAuth Client ID Metadata Document, section 6.9',
    behavior: 'Ids of registered clients are the gateway’s own, unique, and never URLs.',
  },
  'as.registration-defaults': {
    source: 'RFC 7591, section 2',
    behavior:
      'Left out, the way to authenticate is Basic, the grant is the code; a secret is issued.',
  },
  'as.registration-unknown-members': {
    source: 'RFC 7591, section 2',
    behavior: 'What is not understood in metadata is left out, and held against nobody.',
  },
  'as.registration-errors': {
    source: 'RFC 7591, section 3.2.2',
    behavior: 'Bad metadata are `invalid_client_metadata` or `invalid_redirect_uri`.',
  },
  'as.registration-rate-limited': {
    source: 'RFC 7591, section 5',
    behavior: 'Registration is limited per address of clients, over all proxies.',
  },
  'as.registration-expires': {
    source: 'RFC 7591, section 5',
    behavior: 'Registrations that no user approves, or nobody uses, are forgotten.',
  },
  'as.application-type': {
    source: MCP,
    behavior: '`application_type` is kept, and forbids no redirect URI that is otherwise allowed.',
  },
  'as.metadata-document-checked': {
    source: 'OAuth Client ID Metadata Document, sections 4 and 6',
    behavior: 'A document counts only when it is about its own URL, whole, and without secrets.',
  },
  'as.metadata-document-advertised': {
    source: MCP,
    behavior: 'Metadata offer URL client IDs where domains are allowed for them, and only there.',
  },
  'as.metadata-document-url': {
    source: 'OAuth Client ID Metadata Document, section 3',
    behavior: 'A URL client ID is https with a path, without dot segments, fragment and user.',
  },
  'as.metadata-document-redirect-uris': {
    source: 'OAuth Client ID Metadata Document, section 4.5',
    behavior: 'The redirect URI of a URL client ID is one of its document’s.',
  },
  'as.metadata-document-failure': {
    source: 'OAuth Client ID Metadata Document, section 4.3',
    behavior: 'Where a document cannot be had, the request ends on a page, never on a redirect.',
  },
  'as.metadata-document-keys': {
    source: 'OAuth Client ID Metadata Document, section 6.2',
    behavior: 'A client with keys in its document authenticates with them.',
  },
  'as.metadata-document-guarded': {
    source: 'OAuth Client ID Metadata Document, section 6.5; RFC 9728, section 7.7',
    behavior: 'Fetching a document reaches no special-purpose address and follows no redirect.',
  },
  'as.metadata-document-size': {
    source: 'OAuth Client ID Metadata Document, section 6.6',
    behavior: 'A document has at most 5 kilobytes.',
  },
  'as.client-keys-guarded': {
    source: 'OAuth Client ID Metadata Document, section 6.5',
    behavior: 'Keys of clients are fetched from allowed domains, under the same guard.',
  },
  'as.metadata-document-cached': {
    source: 'OAuth Client ID Metadata Document, section 4.4',
    behavior: 'Documents are cached within bounds, errors never.',
  },
  'as.revocation': {
    source: 'RFC 7009, section 2',
    behavior: 'A client revokes its own tokens; unknown ones answer 200.',
  },
  'as.revocation-of-grant': {
    source: 'RFC 7009, section 2.1',
    behavior: 'A revoked refresh token takes its grant and every token of it along.',
  },
  'as.cors': {
    source: 'MCP clients in browsers',
    behavior: 'Metadata, registration, token and revocation endpoints answer any origin.',
  },

  'rs.metadata': {
    source: 'RFC 9728, section 3',
    behavior: 'Protected resource metadata are public, at the root and path-inserted.',
  },
  'rs.challenge': {
    source: 'RFC 9728, section 5.1; RFC 6750, section 3.1',
    behavior: '401 names the metadata; `invalid_token` only when a token was sent.',
  },
  'rs.audience': {
    source: MCP,
    behavior: 'A token for another route is refused.',
  },
  'rs.token-in-header-only': {
    source: MCP,
    behavior: 'A token in the query or a cookie authenticates nobody.',
  },
  'rs.every-request': {
    source: MCP,
    behavior: 'Every request is authorized by itself, also within a connection or an MCP session.',
  },
  'rs.cors': {
    source: 'MCP clients in browsers',
    behavior:
      'The MCP endpoint answers preflights of any origin, and pages may read its responses, never with credentials.',
  },
  'rs.origin': {
    source: `${TRANSPORT}, Security Warning`,
    behavior: 'A request of a page whose origin may not use the endpoint is 403.',
  },
  'rs.header-mismatch': {
    source: `${TRANSPORT}, 2026-07-28`,
    behavior: 'Headers that mirror the body and disagree are 400 with code -32020.',
  },
  'rs.strict-body': {
    source: TRANSPORT,
    behavior: 'A body that two parsers could read differently never reaches the upstream.',
  },
  'transport.unchanged': {
    source: TRANSPORT,
    behavior: 'What was understood passes byte for byte, and so does what the server answers.',
  },
  'transport.methods': {
    source: TRANSPORT,
    behavior: 'An MCP endpoint has POST, GET and DELETE; any other method is 405.',
  },
  'transport.streams': {
    source: TRANSPORT,
    behavior: 'Each event of a stream arrives at once, and no response is held back.',
  },
  'transport.cancellation': {
    source: `${TRANSPORT}, 2026-07-28`,
    behavior: 'A client that closes its stream cancels: the upstream is told at once.',
  },
  'transport.unknown-version': {
    source: TRANSPORT,
    behavior: 'A revision that the gateway does not know is the upstream’s to accept or refuse.',
  },
  'transport.param-headers': {
    source: `${TRANSPORT}, 2026-07-28`,
    behavior: 'Headers that mirror tool arguments (`Mcp-Param-*`) are forwarded.',
  },
  'transport.both-eras': {
    source: TRANSPORT,
    behavior: 'Clients with sessions and clients without use one route at the same time.',
  },
  'transport.error-codes': {
    source: `${TRANSPORT}, 2026-07-28`,
    behavior:
      'Errors of the gateway are JSON-RPC with codes outside of the ranges that others reserve.',
  },
} as const satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof REQUIREMENTS;
