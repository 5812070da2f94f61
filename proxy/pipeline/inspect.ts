import type { GatewayRequest } from '../http/gateway-request.ts';
import { readBody } from '../http/read-body.ts';
import { checkBodyHeaders, inspectRequest } from '../mcp/inspect-request.ts';
import type { JsonRpcMessage } from '../mcp/json-rpc.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';

/** A JSON-RPC message, and the bytes from which it was parsed. */
export interface InspectedBody {
  readonly message: JsonRpcMessage;
  readonly bytes: Buffer;
}

/**
 * Reads and parses the body of a POST to an MCP server route, or refuses it: a body that cannot be
 * parsed is not forwarded. Undefined for requests without a body, and on other routes.
 */
export function inspect(
  { method, message }: GatewayRequest,
  { compiled: { mcpServer } }: GatewayRoute,
): Promise<InspectedBody> | undefined {
  if (mcpServer === undefined || method !== 'POST') return undefined;
  checkBodyHeaders(message);
  return readBody(message, mcpServer.maxRequestBytes).then((bytes) => ({
    message: inspectRequest(message, bytes),
    bytes,
  }));
}
