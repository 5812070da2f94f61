import { MCP, SPEC, TRANSPORT, type Requirements } from './requirement.ts';

/** MCP over HTTP, and the gateway as a resource server. */
export const MCP_RESOURCES = {
  'mcp.register-sign-in-token-call': {
    source: SPEC.patterns,
    behavior: 'An MCP client registers, the user signs in, the client gets TE and calls the route.',
  },
  'application.backend-gets-te': {
    source: SPEC.patterns,
    behavior:
      'The backend of an `mcp.client` route gets TE in `Authorization`, with which services elsewhere can call MCP servers.',
  },
  'application.exempt-from-formats': {
    source: SPEC.patterns,
    behavior: 'Users of an `mcp.client` route sign in, whatever the bearer token format is.',
  },
  'application.routes-lists-servers': {
    source: SPEC.endpoints,
    behavior: '`GET /.gateway/mcp/routes` lists the MCP servers with name, URL and `connected`.',
  },
  'application.routes-by-policy': {
    source: SPEC.endpoints,
    behavior: 'The list has the servers that are available to the user.',
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
  'mcp.upstream-challenge': {
    source: MCP,
    behavior:
      'No challenge of an upstream sends the client of an MCP server route to another authorization server.',
  },
  'upstream.client-metadata-document': {
    source: SPEC.mcpServer,
    behavior:
      'Without credentials the gateway is a client of the authorization server by its client ID metadata document.',
  },
  'mcp.path-appended': {
    source: SPEC.mcpServer,
    behavior: '`mcp.server.path` is appended to the upstream URL.',
  },
  'mcp.max-request-bytes': {
    source: SPEC.limits,
    behavior: 'A body longer than `max_request_bytes` (default 4 KiB) is refused.',
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
  'session.sealed': {
    source: `${TRANSPORT}, Session Management`,
    behavior:
      'The client gets the id of its MCP session sealed, the server gets its own, and every proxy can open it.',
  },
  'session.of-its-user': {
    source: 'MCP, Security Best Practices, Session Hijacking',
    behavior: 'An MCP session is 404 for every other user and on every other route.',
  },
  'session.none': {
    source: `${TRANSPORT}, 2026-07-28`,
    behavior: 'Since 2026-07-28 there are no sessions, so neither side gets a session id.',
  },
  'transport.methods': {
    source: TRANSPORT,
    behavior:
      'An MCP endpoint has POST, GET for a stream of events, and DELETE of a session; any other method is 405.',
  },
  'mcp.endpoint-only': {
    source: 'Route: mcp.server.subPaths',
    behavior:
      'An MCP server route serves its endpoint and the sub-paths that it lists; every other path is 404.',
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
} as const satisfies Requirements;
