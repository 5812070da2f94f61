import type { Endpoint } from '../endpoints/endpoint.ts';
import { PATHS } from '../endpoints/paths.ts';
import { createConnectionCallbackEndpoint } from './callback-endpoint.ts';
import { createConnectEndpoint } from './connect-endpoint.ts';
import type { ConnectEndpointOptions } from './connect-endpoint-options.ts';

/** Makes the endpoints by which users connect MCP servers, by path. */
export function createConnectEndpoints(
  options: ConnectEndpointOptions,
): Readonly<Record<string, Endpoint>> {
  return {
    [PATHS.connect]: createConnectEndpoint(options),
    [PATHS.connectionCallback]: createConnectionCallbackEndpoint(options),
  };
}
