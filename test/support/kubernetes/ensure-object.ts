import { ApiStatusError } from './api-status-error.ts';
import type { AdminClient } from './cluster.ts';

/** What a new object needs at least. */
interface NewObject {
  readonly metadata: { readonly name: string };
  readonly spec?: object;
}

/** Creates an object of a collection such as `/api/v1/namespaces`, and takes one that is there. */
export async function ensureObject(
  admin: AdminClient,
  collection: string,
  object: NewObject,
): Promise<unknown> {
  try {
    return await admin.request('POST', collection, object);
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.reason !== 'AlreadyExists') throw error;
    return await admin.request('GET', `${collection}/${object.metadata.name}`);
  }
}

/** Creates a namespace unless it is there. */
export async function ensureNamespace(admin: AdminClient, name: string): Promise<void> {
  await ensureObject(admin, '/api/v1/namespaces', { metadata: { name } });
}
