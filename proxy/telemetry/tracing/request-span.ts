import { inOnePiece } from '../../../shared/telemetry/in-one-piece.ts';
import { oncePerText } from '../../../shared/telemetry/once-per-text.ts';
import type { Span } from '../../../shared/telemetry/tracing/trace.ts';
import type { GatewayRoute } from '../../configuration/routing-table.ts';
import { pathTemplate } from '../../endpoints/path-template.ts';
import { SignInRequiredError } from '../../errors/authentication-errors.ts';
import type { GatewayRequest } from '../../http/gateway-request.ts';
import type { JsonRpcMessage } from '../../mcp/json-rpc.ts';
import { traceOfMessage } from '../../mcp/message-trace.ts';
import { rawHeaderValues } from '../../mcp/raw-header.ts';
import { schemeOf } from './scheme-of.ts';
import { setServer } from './set-server.ts';
import { nameOfMethod, setMethod } from './set-method.ts';
import { tracedPath } from './traced-path.ts';

/** What is known of a request at its end. */
export interface RequestFacts {
  readonly requestId: string;
  /** Absent if its head could not be parsed. */
  readonly request: GatewayRequest | undefined;
  /** Origin of the host; absent if no host was matched. */
  readonly origin: string | undefined;
  /** Whether an endpoint of the gateway answered. */
  readonly isForEndpoint: boolean;
  readonly route: GatewayRoute | undefined;
  readonly message: JsonRpcMessage | undefined;
  /** Status of the response; absent if the client got none. */
  readonly status: number | undefined;
  /** Why the request was refused, or has no whole response. */
  readonly error: unknown;
  /** By `performance.now()`. */
  readonly endedAt: number;
}

/** Ends the span of a request, with all that is known of it by then. */
export function endRequestSpan(span: Span, facts: RequestFacts): void {
  const { request, route, message, requestId } = facts;
  span.add('gatehouse.request.id', requestId);
  if (request !== undefined) describeHead(span, request, facts);
  if (route !== undefined) span.add('gatehouse.route.name', route.compiled.name);
  if (message?.method !== undefined) describeMessage(span, message, message.method);
  describeOutcome(span, facts);
  span.end(facts.endedAt);
}

/** OpenTelemetry's conventions for HTTP servers, without the query: it may hold anything. */
function describeHead(
  span: Span,
  { method, path, authority, message: { rawHeaders } }: GatewayRequest,
  { origin, isForEndpoint, route, message }: RequestFacts,
): void {
  const template = isForEndpoint ? pathTemplate(path) : route && templateOf(route);
  // A message has a name of its own.
  if (message?.method === undefined) {
    const name = nameOfMethod(method);
    span.rename(template === undefined ? name : `${name} ${template}`);
  }
  setMethod(span, method);
  // What follows the path of an endpoint is chosen by strangers.
  span.add('url.path', isForEndpoint ? (template ?? RESERVED) : tracedPath(path));
  const scheme = origin === undefined ? undefined : schemeOf(origin);
  if (scheme !== undefined) span.add('url.scheme', scheme);
  if (template !== undefined) span.add('http.route', template);
  setServer(span, authority, scheme);
  const [version] = rawHeaderValues(rawHeaders, 'mcp-protocol-version');
  if (version !== undefined && route?.compiled.mcpServer !== undefined) {
    span.add('mcp.protocol.version', version);
  }
}

/** In place of a path below the reserved prefix that no endpoint has. */
const RESERVED = '/.gateway/*';

/** Returns the path of a route: exact, its prefix, or the text of its regular expression. */
function templateOf({ compiled: { path } }: GatewayRoute): string {
  return path.value === '' ? '/' : path.value;
}

/** Made once for each tool: a text that is put together is copied each time that it is read. */
const nameOfToolCall = oncePerText((tool) => inOnePiece(`tools/call ${tool}`));

/** OpenTelemetry's conventions for MCP servers. Neither arguments nor the URIs of resources. */
function describeMessage(span: Span, message: JsonRpcMessage, method: string): void {
  const { id, toolName, mirroredName } = message;
  span.add('mcp.method.name', method);
  if (id !== undefined) span.add('jsonrpc.request.id', String(id));
  if (toolName !== undefined) {
    span.add('gen_ai.tool.name', toolName);
    span.add('gen_ai.operation.name', 'execute_tool');
  } else if (method === 'prompts/get' && mirroredName !== undefined) {
    span.add('gen_ai.prompt.name', mirroredName);
  }
  span.rename(toolName === undefined ? method : nameOfToolCall(toolName));
  const linked = traceOfMessage(message);
  if (linked !== undefined) span.link(linked);
}

const FIRST_SERVER_ERROR = 500;
const SEE_OTHER = 303;

function describeOutcome(span: Span, { status, error }: RequestFacts): void {
  if (status !== undefined) span.add('http.response.status_code', status);
  if (error === undefined) {
    if (status !== undefined && status >= FIRST_SERVER_ERROR) span.fail(String(status));
  } else if (!(error instanceof SignInRequiredError && status === SEE_OTHER)) {
    // A redirect to the sign-in is how it begins.
    span.recordError(error);
  }
}
