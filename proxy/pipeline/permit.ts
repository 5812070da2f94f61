import type { Caller } from '../authentication/caller.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { InspectedBody } from './inspect.ts';

/** The brand of permits: it has no value, and neither a literal nor a copy by spreading has it. */
declare class Authorized {
  private readonly isAuthorized: true;
}

/**
 * Proof that policy allowed this request of this caller on this route. `authorize` alone makes it,
 * and only a permit produces an upstream request. Its brand is private, so that no other object is a
 * `Permit`, nor a changed copy of one.
 */
export interface Permit extends Authorized {
  readonly request: GatewayRequest;
  readonly route: GatewayRoute;
  readonly caller: Caller;
  /** On MCP server routes, the body of a POST that policy decided on. */
  readonly body: InspectedBody | undefined;
}
