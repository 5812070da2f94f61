import { ConnectionPool } from '../../upstream-client/connection-pool.ts';
import type { OutgoingRequest } from '../../upstream-client/outgoing-request.ts';
import type { ResponseHandler } from '../../upstream-client/response-handler.ts';
import { originAddress } from '../origin-address.ts';

/**
 * Connections to upstreams, a pool for each origin.
 *
 * Their number has no limit: each carries a request that holds a client's connection, and a limit would
 * let idle event streams block all other requests.
 */
export class UpstreamPools implements Disposable {
  readonly #pools = new Map<string, ConnectionPool>();

  /** Throws `ConnectionError` if the request cannot be written. */
  send(origin: string, request: OutgoingRequest, handler: ResponseHandler): void {
    this.#poolFor(origin).send(request, handler);
  }

  /** Closes the pools of all other origins, each once its requests are done. */
  async retain(origins: Pick<ReadonlySet<string>, 'has'>): Promise<void> {
    const unused = [...this.#pools].filter(([origin]) => !origins.has(origin));
    for (const [origin] of unused) this.#pools.delete(origin);
    await Promise.all(unused.map(([, pool]) => pool.close()));
  }

  /** Aborts all current requests. */
  [Symbol.dispose](): void {
    for (const pool of this.#pools.values()) pool.destroy();
    this.#pools.clear();
  }

  #poolFor(origin: string): ConnectionPool {
    const existing = this.#pools.get(origin);
    if (existing !== undefined) return existing;
    const { protocol, host, port } = originAddress(origin);
    const pool = new ConnectionPool({ isTls: protocol === 'https:', host, port });
    this.#pools.set(origin, pool);
    return pool;
  }
}
