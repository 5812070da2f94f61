import type { Caller } from '../authentication/caller.ts';
import type { JsonRpcMessage } from '../mcp/json-rpc.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';

declare const isAuthorized: unique symbol;

/**
 * Proof that a request was authorized: forwarding takes one, and `authorize` alone makes it. The
 * symbol has no value and no other module can name it, so an object literal is never a `Permit`.
 */
export interface Permit {
  readonly route: GatewayRoute;
  readonly caller: Caller;
  /** On MCP server routes, what the body of a POST says. */
  readonly message: JsonRpcMessage | undefined;
  readonly [isAuthorized]: true;
}
