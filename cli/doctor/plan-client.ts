import type { AuthorizationServer } from 'oauth4webapi';

import {
  metadataDocumentUrl,
  takesMetadataDocument,
} from '../../proxy/upstream-oauth/registration/metadata-document.ts';
import { registrationAt } from '../../proxy/upstream-oauth/registration/register-client.ts';
import { originOf } from '../../shared/snapshot/origin.ts';
import type { Patient } from './patient.ts';

/** How a client would be known to the authorization server. */
export interface ClientPlan {
  readonly kind: 'given' | 'metadata-document' | 'registration';
  /** Client ID; of a registration, the endpoint that gives it. */
  readonly value: string;
}

/** Stands for the host of a Route that does not exist yet. */
const ANY_ROUTE = originOf({ scheme: 'https', host: 'route_host', port: 443 });

/**
 * Returns which client the gateway would be, without registering it; for a route of this gateway, which client
 * an MCP client would be. Throws an `UpstreamAuthError` if there is no way.
 */
export function planClient(
  server: AuthorizationServer,
  { upstream: { oauth }, origin = ANY_ROUTE }: Patient,
): ClientPlan {
  if (oauth.client !== undefined) return { kind: 'given', value: oauth.client.id };
  if (takesMetadataDocument(server, origin)) {
    return { kind: 'metadata-document', value: metadataDocumentUrl(origin) };
  }
  return { kind: 'registration', value: registrationAt(server).endpoint };
}
