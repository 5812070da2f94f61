import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { InspectedBody } from './inspect.ts';
import type { MatchedHost } from './match-host.ts';

/** Everything that was known about a request when one of its stages failed. */
export interface KnownRequest {
  readonly requestId: string;
  /** The configuration the request began with, and keeps. */
  readonly configuration: Configuration;
  /** Undefined while tracing is off. */
  readonly trace?: Trace | undefined;
  readonly request?: GatewayRequest | undefined;
  readonly host?: MatchedHost | undefined;
  readonly endpoint?: Endpoint | undefined;
  readonly route?: GatewayRoute | undefined;
  /** Of a request to an MCP route. */
  readonly body?: InspectedBody | undefined;
}
