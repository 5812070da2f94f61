import { SPEC, type Requirements } from './requirement.ts';

/** Tokens, sessions, assertions and errors. */
export const TOKENS = {
  'audit.keys': {
    source: 'docs/standalone.md, Keys',
    behavior: 'The log distinguishes what a removed sealing key sealed from what nobody sealed.',
  },
  'audit.events': {
    source: 'docs/logs.md: The audit log',
    behavior:
      'Whoever is let in or out has an audit event with a stable name, without any token, code or secret.',
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
} as const satisfies Requirements;
