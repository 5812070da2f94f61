import { isDeepStrictEqual } from 'node:util';

import { Agent, ProxyAgent, request, type Dispatcher } from 'undici';

import type { ClusterAccess, TlsOptions } from './cluster-access.ts';

/** How long a response may take to begin. The response to a watch begins before its first event. */
const HEADERS_TIMEOUT_MS = 30_000;

/**
 * The time without traffic after which TCP probes the connection. Linux gives up ten seconds after the first probe,
 * so a watch notices a dead connection within 25 seconds.
 */
const KEEP_ALIVE_MS = 15_000;

/** A request to the API server. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** The path with its query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** Media types of the response; JSON if absent. */
  readonly accept?: string;
  readonly signal: AbortSignal;
}

/**
 * Connections to the API server, with its authorities and credentials.
 *
 * The credentials are read for every request, because tokens and certificates are rotated. Connections
 * stay open between requests as long as the certificates stay the same.
 */
export class ApiConnection {
  readonly #access: ClusterAccess;
  readonly #userAgent: string;
  #dispatcher: Dispatcher;
  #tls: TlsOptions = {};

  constructor(access: ClusterAccess, userAgent: string) {
    this.#access = access;
    this.#userAgent = userAgent;
    this.#dispatcher = this.#connect();
  }

  /** Resolves with the response, whatever its status. Its body has to be read or destroyed. */
  async send({
    method,
    path,
    body,
    contentType,
    accept = 'application/json',
    signal,
  }: ApiRequest): Promise<Dispatcher.ResponseData> {
    const { tls, headers } = await this.#access.credentials();
    this.#setTls(tls);
    return request(`${this.#access.server}${path}`, {
      dispatcher: this.#dispatcher,
      method,
      headers: {
        ...headers,
        ...(contentType !== undefined && { 'content-type': contentType }),
        accept,
        'user-agent': this.#userAgent,
      },
      ...(body !== undefined && { body }),
      signal,
      headersTimeout: HEADERS_TIMEOUT_MS,
      // The signal of a request limits how long its body may take.
      bodyTimeout: 0,
    });
  }

  /** Reconnects if the certificates changed. */
  #setTls(tls: TlsOptions): void {
    if (isDeepStrictEqual(tls, this.#tls)) return;
    const before = this.#dispatcher;
    this.#tls = tls;
    this.#dispatcher = this.#connect();
    // `close` waits for the requests in progress, and a watch may last for minutes.
    before.close().catch(() => undefined);
  }

  #connect(): Dispatcher {
    const { proxy } = this.#access;
    // HTTP/1.1: each watch has a connection of its own, so that one that hangs affects no other.
    const allowH2 = false;
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    return proxy === undefined
      ? new Agent({ allowH2, connect: { ...this.#tls, ...keepAlive } })
      : new ProxyAgent({ uri: proxy, requestTls: this.#tls, allowH2, connect: keepAlive });
  }
}
