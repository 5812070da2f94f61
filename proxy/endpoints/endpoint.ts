import type { Configuration } from '../configuration/configuration.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';

/** What an endpoint of the gateway answers from. */
export interface EndpointContext {
  readonly request: GatewayRequest;
  /** The configuration the request began with. */
  readonly configuration: Configuration;
  /** Origin of the route host the request came to: what `from` says, never the Host header. */
  readonly origin: string;
  /** Cookies of the request by name. */
  readonly cookies: Readonly<Record<string, string | undefined>>;
}

/** Answers a request, or throws a `GatewayError`. */
export type EndpointHandler = (context: EndpointContext) => Promise<GatewayResponse>;

/** In whose language an endpoint's errors are: a person's page, OAuth's or JSON-RPC's. */
export type ErrorAudience = 'page' | 'oauth' | 'json-rpc' | 'text';

/** One path of the gateway's own. */
export interface Endpoint {
  readonly methods: readonly ('GET' | 'POST')[];
  readonly audience: ErrorAudience;
  /** Callable by pages of any origin, never with credentials. */
  readonly crossOrigin: boolean;
  readonly handle: EndpointHandler;
}
