import type { Caller } from '../authentication/caller.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { InspectedBody } from './inspect.ts';

declare const isAuthorized: unique symbol;

/**
 * Proof that policy allowed this request of this caller on this route. `authorize` alone makes it,
 * and only a permit produces an upstream request. The symbol has no value and no other module can
 * name it, so an object literal is never a `Permit`.
 */
export interface Permit {
  readonly request: GatewayRequest;
  readonly route: GatewayRoute;
  readonly caller: Caller;
  /** On MCP server routes, the body of a POST that policy decided on. */
  readonly body: InspectedBody | undefined;
  readonly [isAuthorized]: true;
}
