import type { ServerResponse } from 'node:http';

import type { GatewayRequest } from '../http/gateway-request.ts';
import { announcesMoreThan, readBody } from '../http/read-body.ts';
import { checkBodyHeaders, inspectRequest } from '../mcp/inspect-request.ts';
import type { JsonRpcMessage } from '../mcp/json-rpc.ts';
import { sendContinue } from '../http/send-continue.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';

/** A JSON-RPC message, and the very bytes it was read from. */
export interface InspectedBody {
  readonly message: JsonRpcMessage;
  readonly bytes: Buffer;
}

/**
 * Reads and understands the body of a POST to an MCP server route, or refuses it: what was not
 * understood is not forwarded. Undefined for requests without a body, and on other routes.
 */
export function inspect(
  { method, message }: GatewayRequest,
  { compiled: { mcpServer } }: GatewayRoute,
  response: ServerResponse,
): Promise<InspectedBody> | undefined {
  if (mcpServer === undefined || method !== 'POST') return undefined;
  checkBodyHeaders(message);
  const { maxRequestBytes } = mcpServer;
  if (!announcesMoreThan(maxRequestBytes, message)) sendContinue(message, response);
  return readBody(message, maxRequestBytes).then((bytes) => ({
    message: inspectRequest(message, bytes),
    bytes,
  }));
}
