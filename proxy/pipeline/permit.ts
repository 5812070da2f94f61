import type { Caller } from '../authentication/caller.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { InspectedBody } from './inspect.ts';

/** The brand of permits. It is only a type, so neither a literal nor a spread copy has it. */
declare class Authorized {
  private readonly isAuthorized: true;
}

/**
 * Proof that policy allowed this request of this caller on this route. Only `authorize` makes a permit,
 * and an upstream request is made from nothing else. The brand is private, so neither another object nor a
 * changed copy is a `Permit`.
 */
export interface Permit extends Authorized {
  readonly request: GatewayRequest;
  readonly route: GatewayRoute;
  readonly caller: Caller;
  /** On MCP server routes, the body of a POST that policy decided on. */
  readonly body: InspectedBody | undefined;
}
