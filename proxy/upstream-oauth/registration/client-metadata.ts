import type { OmitSymbolProperties, Client } from 'oauth4webapi';

import { PATHS } from '../../endpoints/paths.ts';
import type { UpstreamAuthMethod } from '../../records/upstream-registration.ts';
import type { Origin } from '../../../shared/snapshot/origin.ts';

/** Members of client metadata (RFC 7591, section 2). */
export type ClientMetadataMembers = Partial<OmitSymbolProperties<Client>>;

/** Returns where authorization servers of upstreams send the browser back to, at a route host. */
export function upstreamCallbackUrl(origin: Origin): string {
  return origin + PATHS.connectionCallback;
}

/** Returns what the gateway says about itself as a client at a route host. */
export function clientMetadata(
  origin: Origin,
  authMethod: UpstreamAuthMethod,
): ClientMetadataMembers {
  return {
    client_name: `Gatehouse at ${new URL(origin).host}`,
    client_uri: origin,
    application_type: 'web',
    redirect_uris: [upstreamCallbackUrl(origin)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: authMethod,
  };
}
