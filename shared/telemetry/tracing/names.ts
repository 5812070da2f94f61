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
  /** A proxy applies a snapshot. */
  | 'apply snapshot'
  | 'authenticate'
  /** The controller compiles and publishes changes in the cluster. */
  | 'change'
  | 'client metadata request'
  | 'compile'
  | 'identity provider request'
  /** A controller begins to lead. */
  | 'leadership'
  | 'policy'
  | 'publish'
  | 'request'
  | 'session renewal'
  /** From when the controller sends a snapshot to one proxy until the proxy has answered. */
  | 'snapshot delivery'
  | 'status write'
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
  /** Names of Routes of a change, `namespace/name`; the first ten. */
  | 'gatehouse.change.routes'
  /** How many resources a change has. */
  | 'gatehouse.change.size'
  /** `allow` or `deny`. */
  | 'gatehouse.decision'
  | 'gatehouse.decision.reasons'
  | 'gatehouse.proxy.id'
  | 'gatehouse.request.id'
  /** In the snapshot. */
  | 'gatehouse.resource.key'
  | 'gatehouse.route.name'
  | 'gatehouse.snapshot.bytes'
  /** How many resources a snapshot changes. */
  | 'gatehouse.snapshot.changes'
  | 'gatehouse.snapshot.position'
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
