/**
 * Names of spans and attributes: nothing else is in a trace.
 *
 * They follow OpenTelemetry's conventions for HTTP, databases, and MCP where those have a name, and start with
 * `gatehouse.` where they have none. No attribute holds a token, code, cookie, e-mail address, client address,
 * user's subject, or the value of a query.
 */

/** What a span was made for. Those of requests and to upstreams get a name of the request itself. */
export type SpanName =
  | 'Redis command'
  | 'authenticate'
  | 'client metadata request'
  | 'identity provider request'
  | 'policy'
  | 'request'
  | 'session renewal'
  | 'upstream OAuth request'
  | 'upstream request'
  | 'upstream token renewal';

/** What happened during a span, besides errors. */
export type EventName = 'sent again' | 'sent again with a new token' | 'sent to another target';

export type SpanKind = 'internal' | 'server' | 'client';

export type AttributeName =
  | 'db.operation.name'
  | 'db.system.name'
  | 'error.type'
  /** What a request to another server is for, such as `token`. */
  | 'gatehouse.call.operation'
  /** `allow` or `deny`. */
  | 'gatehouse.decision'
  | 'gatehouse.decision.reasons'
  | 'gatehouse.request.id'
  | 'gatehouse.route.name'
  | 'gen_ai.operation.name'
  | 'gen_ai.prompt.name'
  | 'gen_ai.tool.name'
  | 'http.request.method'
  | 'http.request.method_original'
  | 'http.response.status_code'
  | 'http.route'
  | 'jsonrpc.request.id'
  | 'mcp.method.name'
  | 'mcp.protocol.version'
  /** Hashed. */
  | 'mcp.session.id'
  /** Of the pod that got a request. */
  | 'network.peer.address'
  | 'network.peer.port'
  | 'server.address'
  | 'server.port'
  /** Of an upstream, without the query. */
  | 'url.full'
  | 'url.path'
  | 'url.scheme';

export type AttributeValue = string | number | boolean | readonly string[];

export type Attributes = Readonly<Partial<Record<AttributeName, AttributeValue>>>;
