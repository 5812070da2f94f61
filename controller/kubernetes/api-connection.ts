import type { RequestOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';

import type { KubeConfig } from '@kubernetes/client-node';
import { Agent, ProxyAgent, request, type Dispatcher } from 'undici';

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
  readonly signal: AbortSignal;
}

/** The authorities to trust, and the certificate to present. */
type TlsOptions = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'
>;

/**
 * Connections to the API server of a kubeconfig, with its authorities and credentials.
 *
 * The kubeconfig is read for every request, because tokens and certificates are rotated. Connections
 * stay open between requests as long as the certificates stay the same.
 */
export class ApiConnection {
  readonly #config: KubeConfig;
  readonly #server: string;
  #dispatcher: Dispatcher;
  #tls: TlsOptions = {};

  /** Throws if the server must not be used, such as one without TLS. */
  constructor(config: KubeConfig) {
    this.#config = config;
    this.#server = config.getCurrentCluster()?.server.replace(/\/+$/, '') ?? '';
    this.#dispatcher = this.#connect();
  }

  /** Resolves with the response, whatever its status. Its body has to be read or destroyed. */
  async send({
    method,
    path,
    body,
    contentType,
    signal,
  }: ApiRequest): Promise<Dispatcher.ResponseData> {
    const headers = await this.#authenticate();
    if (contentType !== undefined) headers['content-type'] = contentType;
    return request(`${this.#server}${path}`, {
      dispatcher: this.#dispatcher,
      method,
      headers: { ...headers, accept: 'application/json', 'user-agent': 'gatehouse-controller' },
      ...(body !== undefined && { body }),
      signal,
      headersTimeout: HEADERS_TIMEOUT_MS,
      // The signal of a request limits how long its body may take.
      bodyTimeout: 0,
    });
  }

  /** Returns the headers with the credentials. */
  async #authenticate(): Promise<Record<string, string>> {
    const options: RequestOptions = {};
    await this.#config.applyToHTTPSOptions(options);
    const { ca, cert, key, servername, rejectUnauthorized } = options;
    this.#setTls({
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(servername !== undefined && { servername }),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    });
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      headers[name.toLowerCase()] = String(value).trim();
    }
    if (options.auth != null) {
      headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
    }
    return headers;
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
    const options = this.#config.createDispatcherOptions(
      this.#config.getCurrentCluster(),
      this.#tls,
    );
    // HTTP/1.1: each watch has a connection of its own, so that one that hangs affects no other.
    const allowH2 = false;
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    switch (options.type) {
      case 'none':
      case 'agent':
        return new Agent({ allowH2, connect: { ...this.#tls, ...keepAlive } });
      case 'proxy':
      case 'socks':
        return new ProxyAgent({
          uri: options.uri,
          requestTls: this.#tls,
          allowH2,
          connect: keepAlive,
        });
    }
  }
}
