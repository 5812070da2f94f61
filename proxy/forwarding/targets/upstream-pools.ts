import { Pool, type Dispatcher } from 'undici';

const SECOND = 1_000;

/** Timeout of a connection attempt. */
export const CONNECT_TIMEOUT_MS = 5 * SECOND;

/**
 * Idle connections are closed before usual servers close them (uvicorn and older Node: 5 s), unless
 * the upstream announces a timeout of its own (`Keep-Alive: timeout`).
 */
const KEEP_ALIVE_TIMEOUT_MS = 4 * SECOND;

/**
 * Connections to upstreams, a pool for each origin.
 *
 * Their number has no limit: each carries a request that holds a client's connection, and a limit would
 * let idle event streams block all other requests.
 */
export class UpstreamPools implements AsyncDisposable {
  readonly #pools = new Map<string, Pool>();

  dispatch(
    origin: string,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): void {
    this.#poolFor(origin).dispatch(options, handler);
  }

  /** Closes the pools of all other origins, each once its requests are done. */
  async retain(origins: Pick<ReadonlySet<string>, 'has'>): Promise<void> {
    const unused = [...this.#pools].filter(([origin]) => !origins.has(origin));
    for (const [origin] of unused) this.#pools.delete(origin);
    await Promise.all(unused.map(([, pool]) => pool.close()));
  }

  /** Aborts all current requests. */
  async [Symbol.asyncDispose](): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #poolFor(origin: string): Pool {
    const existing = this.#pools.get(origin);
    if (existing !== undefined) return existing;
    const pool = new Pool(origin, {
      connections: null,
      pipelining: 1,
      connectTimeout: CONNECT_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
      // The relay is built and tested for the header and error rules of HTTP/1.1.
      allowH2: false,
    });
    this.#pools.set(origin, pool);
    return pool;
  }
}
