import type { ClientStore } from '../../store/client-store.ts';
import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import type { Client } from '../../records/client.ts';
import type { BeforeFetch, ReadMetadataDocument } from './metadata-document.ts';
import { isUrlClientId } from './url-client-id.ts';

/**
 * Finds the client of an ID at an issuer; null when none is registered there.
 *
 * Throws an `AuthorizationPageError` when the ID is a URL that names no acceptable client.
 */
export type FindClient = (
  issuer: string,
  clientId: string,
  settings: CompiledSettings,
  beforeFetch?: BeforeFetch,
) => Promise<Client | null>;

export interface FindClientOptions {
  readonly clients: ClientStore;
  readonly readMetadataDocument: ReadMetadataDocument;
}

export function createFindClient({ clients, readMetadataDocument }: FindClientOptions): FindClient {
  return async (issuer, clientId, settings, beforeFetch) => {
    if (isUrlClientId(clientId)) {
      return await readMetadataDocument(clientId, settings, beforeFetch);
    }
    const registered = await clients.get(issuer, clientId);
    if (registered === null) return null;
    const { id, metadata, secretHash } = registered;
    return {
      id,
      source: 'registration',
      metadata,
      ...(secretHash === undefined ? {} : { secretHash }),
    };
  };
}
