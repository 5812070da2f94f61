import { ApiStatusError } from './api-status-error.ts';
import type { AdminClient } from './cluster.ts';

/** The required fields of a new object. */
interface NewObject {
  readonly metadata: { readonly name: string };
  readonly spec?: object;
}

/** Creates an object in a collection such as `/api/v1/namespaces`, or returns the existing one. */
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

/** Creates a namespace if it does not exist. */
export async function ensureNamespace(admin: AdminClient, name: string): Promise<void> {
  await ensureObject(admin, '/api/v1/namespaces', { metadata: { name } });
}
