import { InvalidClientMetadataError } from '../../errors/oauth-errors.ts';
import type { JsonObject } from '../../json/json-object.ts';
import { checkKeysDomain, type ClientDomains } from './client-domains.ts';
import type { ClientMetadata } from '../../records/client.ts';
import { parseClientMetadata } from './parse-client-metadata.ts';

/** A public document cannot hold a shared secret (draft, section 4.1). */
const SECRET_MEMBERS = ['client_secret', 'client_secret_expires_at'];

/**
 * Reads a client ID metadata document; throws an `OAuthError` that describes the problem.
 *
 * @see {@link https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document#section-4.1 OAuth Client ID Metadata Document, section 4.1}
 */
export function parseMetadataDocument(
  clientId: string,
  document: JsonObject,
  domains: ClientDomains,
): ClientMetadata {
  // Attack: without simple string comparison a document could speak for another client.
  if (document['client_id'] !== clientId) {
    throw new InvalidClientMetadataError('client_id is not the URL it was fetched from');
  }
  if (SECRET_MEMBERS.some((member) => member in document)) {
    throw new InvalidClientMetadataError('it has a client secret');
  }
  const metadata = parseClientMetadata(document, {
    default: 'none',
    supported: ['none', 'private_key_jwt'],
  });
  if (metadata.clientName === undefined) {
    throw new InvalidClientMetadataError('client_name is missing');
  }
  checkKeysDomain(metadata, domains);
  return metadata;
}
