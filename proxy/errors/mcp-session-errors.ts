import { GatewayError } from './gateway-error.ts';

/**
 * The `Mcp-Session-Id` of a request is not one that this user got on this route: 404, after which clients
 * start a new session (MCP 2025-11-25, Session Management, rules 3 and 4).
 */
export class McpSessionNotFoundError extends GatewayError {
  override readonly name = 'McpSessionNotFoundError';
  override readonly reason = 'mcp-session-not-found';
  override readonly status = 404;
}

/** An MCP server sent an `Mcp-Session-Id` that no client could use. */
export class InvalidMcpSessionIdError extends GatewayError {
  override readonly name = 'InvalidMcpSessionIdError';
  override readonly reason = 'upstream-session-id-invalid';
  override readonly status = 502;
}
