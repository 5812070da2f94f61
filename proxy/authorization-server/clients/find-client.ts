import type { ClientStore } from '../../store/client-store.ts';
import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import type { Client } from '../../records/client.ts';
import type { BeforeFetch, ReadMetadataDocument } from './metadata-document.ts';
import { isUrlClientId } from './url-client-id.ts';

/**
 * Finds the client with an ID at an issuer; null if none is registered there.
 *
 * Throws an `AuthorizationPageError` if the ID is a URL and no acceptable client can be read from it.
 */
export type FindClient = (
  issuer: string,
  clientId: string,
  settings: CompiledSettings,
  beforeFetch?: BeforeFetch,
) => Promise<Client | null>;

/** Options of `createFindClient`. */
export interface FindClientOptions {
  readonly clients: ClientStore;
  readonly readMetadataDocument: ReadMetadataDocument;
}

/** Makes the function that finds clients, registered ones and those of metadata documents. */
export function createFindClient({ clients, readMetadataDocument }: FindClientOptions): FindClient {
  return async (issuer, clientId, settings, beforeFetch) => {
    if (isUrlClientId(clientId)) {
      return await readMetadataDocument(clientId, settings, beforeFetch);
    }
    const registered = await clients.get(issuer, clientId);
    if (registered === null) return null;
    const { id, metadata, secretHash, isUnapproved } = registered;
    return {
      id,
      source: 'registration',
      metadata,
      ...(secretHash !== undefined && { secretHash }),
      ...(isUnapproved !== undefined && { isUnapproved }),
    };
  };
}
