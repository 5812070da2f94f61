import type { GatewayRequest } from '../http/gateway-request.ts';
import { hasBody } from '../http/has-body.ts';
import { readBody, readBodyAs } from '../http/read-body.ts';
import { checkPolicyFacts } from '../mcp/check-policy-facts.ts';
import { checkStreamRequest } from '../mcp/check-stream-request.ts';
import { checkBodyHeaders, inspectRequest } from '../mcp/inspect-request.ts';
import type { JsonRpcMessage } from '../mcp/json-rpc.ts';
import type { MessageSubjects } from '../mcp/message-subjects.ts';
import type { RequestMessage } from '../http/request-message.ts';
import type { McpPathKind } from '../mcp/served-paths.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';

/** The body of a request to an MCP route. */
export interface InspectedBody {
  /** The JSON-RPC message; undefined on a path that is not inspected. */
  readonly message: JsonRpcMessage | undefined;
  /** The bytes that arrived, from which the message was parsed. */
  readonly bytes: Buffer;
  /** What the message is about, if the policy of the route reads it. */
  readonly subjects: MessageSubjects | undefined;
}

/**
 * Checks a request to an MCP route: reads its body, and parses it. A request that does not belong to the
 * transport and a body that cannot be parsed are refused. Where the path is not inspected, the body is
 * only read.
 *
 * Undefined for requests without a body, and on other routes.
 */
export function inspect(
  request: GatewayRequest,
  { compiled: { mcpServer }, policy }: GatewayRoute,
  pathKind: McpPathKind | undefined,
): Promise<InspectedBody> | undefined {
  if (mcpServer === undefined) return undefined;
  const { method, message } = request;
  const { maxRequestBytes } = mcpServer;
  if (pathKind === 'uninspected') {
    return hasBody(message) ? readUninspected(message, maxRequestBytes) : undefined;
  }
  if (method !== 'POST') {
    checkStreamRequest(request);
    return undefined;
  }
  checkBodyHeaders(message);
  return readBodyAs(message, maxRequestBytes, (bytes) => {
    const parsed = inspectRequest(message, bytes);
    const subjects = policy && checkPolicyFacts(parsed, bytes, policy.reads);
    return { message: parsed, bytes, subjects };
  });
}

async function readUninspected(message: RequestMessage, limit: number): Promise<InspectedBody> {
  return { message: undefined, bytes: await readBody(message, limit), subjects: undefined };
}
