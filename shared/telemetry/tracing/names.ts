/**
 * Names of spans and attributes: nothing else is in a trace.
 *
 * They follow OpenTelemetry's conventions for HTTP, databases, and MCP where those have a name, and start with
 * `gatehouse.` where they have none. No attribute holds a token, code, cookie, e-mail address, client address,
 * user's subject, or the value of a query.
 */

/** What a span was made for. Spans of requests are renamed when their route or MCP method is known. */
export type SpanName = 'authenticate' | 'policy' | 'request' | 'upgrade' | 'upstream request';

export type SpanKind = 'internal' | 'server' | 'client';

export type AttributeName =
  | 'error.type'
  | 'gatehouse.request.id'
  | 'gatehouse.route.name'
  | 'gen_ai.operation.name'
  | 'gen_ai.prompt.name'
  | 'gen_ai.tool.name'
  | 'http.request.method'
  | 'http.response.status_code'
  | 'http.route'
  | 'mcp.method.name'
  | 'mcp.protocol.version'
  /** Hashed. */
  | 'mcp.session.id'
  | 'network.protocol.version'
  | 'rpc.response.status_code'
  | 'server.address'
  | 'server.port'
  | 'url.path'
  | 'url.scheme';

export type AttributeValue = string | number | boolean | readonly string[];

export type Attributes = Readonly<Partial<Record<AttributeName, AttributeValue>>>;
