import type { Endpoint } from '../endpoints/endpoint.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { Place } from './match-host.ts';

/**
 * What is known of a request so far. Every stage adds what it found, so that whatever goes wrong
 * later is answered in the right language.
 */
export interface Progress {
  readonly requestId: string;
  /** The configuration the request began with, and keeps. */
  readonly configuration: Configuration;
  request?: GatewayRequest;
  place?: Place;
  endpoint?: Endpoint | undefined;
  route?: GatewayRoute;
  /** Id of the JSON-RPC request; null for messages without one. */
  messageId?: string | number | null;
}
