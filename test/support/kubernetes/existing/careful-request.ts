import { ApiStatusError } from '../api-status-error.ts';
import type { AdminClient } from '../cluster.ts';
import { remove } from '../real/contents.ts';

type Request = AdminClient['request'];

/** Collections that store nothing. */
const REVIEWS = /^\/apis\/(authentication|authorization)\.k8s\.io\//;

/**
 * Requests to a cluster that others use: refuses to change or delete objects that were not created
 * through it. Disposing of it deletes those that were.
 */
export class CarefulRequest implements AsyncDisposable {
  readonly #request: Request;
  /** Paths of objects, in the order of their creation. */
  readonly #made: string[] = [];

  constructor(request: Request) {
    this.#request = request;
  }

  /** Sends a request, like the `request` of the client. */
  readonly send: Request = async (method, path, body, headers) => {
    const [place = ''] = path.split('?');
    const go = async (): Promise<unknown> => await this.#request(method, path, body, headers);
    if (method === 'GET' || this.#isOurs(place)) return await go();
    if (method === 'POST') {
      const created = await go();
      if (!REVIEWS.test(place)) this.#made.push(`${place}/${nameOf(created)}`);
      return created;
    }
    if (method !== 'PATCH' || (await this.#isThere(place))) {
      throw new Error(`${place} was not created by the tests`);
    }
    const applied = await go();
    this.#made.push(place);
    return applied;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const client = { request: this.#request };
    for (const path of this.#made.splice(0).reverse()) await remove(client, path);
  }

  #isOurs(place: string): boolean {
    const namespace = /\/namespaces\/([^/]+)\//.exec(place)?.[1];
    return this.#made.some(
      (path) =>
        place === path ||
        place.startsWith(`${path}/`) ||
        (namespace !== undefined && path === `/api/v1/namespaces/${namespace}`),
    );
  }

  async #isThere(place: string): Promise<boolean> {
    try {
      await this.#request('GET', place);
      return true;
    } catch (error) {
      if (error instanceof ApiStatusError && error.code === 404) return false;
      throw error;
    }
  }
}

function nameOf(object: unknown): string {
  // Every object that an API server stored has a name.
  return (object as { readonly metadata: { readonly name: string } }).metadata.name;
}
