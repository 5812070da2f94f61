import { hashToken } from '../../crypto/tokens.ts';
import type { Client } from '../../records/client.ts';

/**
 * Names what a client says of itself. A remembered consent is good for this very hash only, so that
 * a client which changes its name or adds a redirect URI is shown to the user again.
 *
 * Keys are left out: rotating them changes nothing the user saw.
 */
export function metadataHash({ source, metadata }: Client): string {
  return hashToken(
    JSON.stringify([
      source,
      metadata.clientName ?? null,
      metadata.clientUri ?? null,
      [...metadata.redirectUris].sort(),
      metadata.tokenEndpointAuthMethod,
      [...metadata.grantTypes].sort(),
      metadata.scope ?? null,
    ]),
  );
}
