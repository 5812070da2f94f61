import type { Configuration } from '../configuration/configuration.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/** A request to an endpoint, and its context. */
export interface EndpointContext {
  readonly request: GatewayRequest;
  /** The configuration that the request began with. */
  readonly configuration: Configuration;
  /** Origin of the host that received the request: what `from` says, never the Host header. */
  readonly origin: Origin;
  /** Cookies of the request by name. */
  readonly cookies: Readonly<Record<string, string | undefined>>;
}

/** Answers a request, or throws a `GatewayError`. */
export type EndpointHandler = (context: EndpointContext) => Promise<GatewayResponse>;

/**
 * The reader of an endpoint's errors: a person, or a client of OAuth, JSON-RPC or plain HTTP (`text`).
 * A browser that navigates to a `text` endpoint also gets a page.
 */
export type ErrorAudience = 'page' | 'oauth' | 'json-rpc' | 'text';

/**
 * A path of the gateway's own.
 *
 * A function `create...Endpoint(options)` in a module of its own makes each endpoint.
 */
export interface Endpoint {
  readonly methods: readonly ('GET' | 'POST')[];
  readonly audience: ErrorAudience;
  /** Pages of any origin may call it, never with credentials. */
  readonly crossOrigin: boolean;
  readonly handle: EndpointHandler;
}
