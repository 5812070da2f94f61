import type { RequestOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';

import type { KubeConfig } from '@kubernetes/client-node';
import { Agent, ProxyAgent, request, type Dispatcher } from 'undici';

/** Of a response to begin. A watch is answered at once, and told of events afterwards. */
const HEADERS_TIMEOUT_MS = 30_000;

/**
 * Of silence until TCP asks whether the other side is still there. Linux gives up ten seconds after
 * the first question, so a watch over a connection that died is noticed in 25 seconds.
 */
const KEEP_ALIVE_MS = 15_000;

/** A request to the API server. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** With its query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly signal: AbortSignal;
}

/** Whom to trust, and the certificate that tells who we are. */
type TlsOptions = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'
>;

/**
 * Connections to the API server of a kubeconfig, which says whom to trust and who we are.
 *
 * It is asked with every request, because tokens and certificates are rotated. Connections stay
 * open between requests for as long as certificates are the same.
 */
export class ApiConnection {
  readonly #config: KubeConfig;
  readonly #server: string;
  #dispatcher: Dispatcher;
  #tls: TlsOptions = {};

  /** Throws when the server is one that is not to be talked to, such as one without TLS. */
  constructor(config: KubeConfig) {
    this.#config = config;
    this.#server = config.getCurrentCluster()?.server.replace(/\/+$/, '') ?? '';
    this.#dispatcher = this.#connect();
  }

  /** Resolves with whatever the server answers. Its body has to be read or destroyed. */
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
      // Whoever sends a request says by its signal how long it may take.
      bodyTimeout: 0,
    });
  }

  /** Headers that tell who we are. */
  async #authenticate(): Promise<Record<string, string>> {
    const options: RequestOptions = {};
    await this.#config.applyToHTTPSOptions(options);
    const { ca, cert, key, servername, rejectUnauthorized } = options;
    this.#trust({
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

  /** Makes connections with other certificates from now on, when they are others. */
  #trust(tls: TlsOptions): void {
    if (isDeepStrictEqual(tls, this.#tls)) return;
    const before = this.#dispatcher;
    this.#tls = tls;
    this.#dispatcher = this.#connect();
    // Waits for what is under way; a watch may be for some minutes more.
    before.close().catch(() => undefined);
  }

  #connect(): Dispatcher {
    const options = this.#config.createDispatcherOptions(
      this.#config.getCurrentCluster(),
      this.#tls,
    );
    // HTTP/1.1: a connection for each watch. One that hangs takes no other with it.
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
