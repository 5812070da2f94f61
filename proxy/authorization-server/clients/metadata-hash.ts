import { hashToken } from '../../crypto/tokens.ts';
import type { Client } from '../../records/client.ts';

/**
 * Returns a hash of a client's metadata. A remembered consent is valid for this hash only, so that the
 * user is asked again about a client that changes its name or adds a redirect URI.
 *
 * Keys are left out: the user did not see them.
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
