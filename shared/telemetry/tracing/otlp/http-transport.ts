import http from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';

import type { ExportResponse, IExporterTransport } from '@opentelemetry/otlp-exporter-base';

import { errorCode } from '../../../runtime/error-code.ts';
import { ExportFailure } from './export-failure.ts';

/** Collectors answer with a few bytes. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_SUCCESS = 299;
const NOT_FOUND = 404;
/** OTLP/HTTP, Retryable Response Codes. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Where and how exports are sent over HTTP. */
export interface HttpTarget {
  readonly url: URL;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends exports over HTTP/1.1.
 *
 * OpenTelemetry's own transport retries by itself, with timers that keep the process from ending, and waits without
 * an end for a collector that answers slowly (decision D-206).
 */
export class HttpTransport implements IExporterTransport {
  readonly #request: typeof http.request;
  readonly #options: http.RequestOptions;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent: http.Agent;
  #isClosed = false;

  constructor({ url, headers, contentType }: HttpTarget) {
    const isSecure = url.protocol === 'https:';
    this.#request = isSecure ? https.request : http.request;
    this.#agent = isSecure ? new https.Agent(AGENT) : new http.Agent(AGENT);
    this.#options = { ...urlToHttpOptions(url), method: 'POST', agent: this.#agent };
    this.#headers = { 'User-Agent': 'gatehouse', ...headers, 'Content-Type': contentType };
  }

  async send(data: Uint8Array, timeoutMs: number): Promise<ExportResponse> {
    const attempt: Attempt = { sent: undefined, isLate: false };
    const timer = setTimeout(() => {
      attempt.isLate = true;
      attempt.sent?.destroy();
    }, timeoutMs).unref();
    try {
      const response = await this.#post(data, attempt);
      const { statusCode = 0 } = response;
      const body = await bodyOf(response);
      if (statusCode >= 200 && statusCode <= MAX_SUCCESS) return { status: 'success', data: body };
      return { status: 'failure', error: refusal(statusCode) };
    } catch (error) {
      const failure = this.#isClosed ? CLOSED : failureOf(error, attempt);
      return { status: 'failure', error: failure };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the exports that are under way. */
  shutdown(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }

  async #post(data: Uint8Array, attempt: Attempt): Promise<http.IncomingMessage> {
    attempt.sent = this.#send(data);
    try {
      return await responseOf(attempt.sent);
    } catch (error) {
      // The collector may have closed a kept connection at this moment, which is no failure of it.
      if (!attempt.sent.reusedSocket || attempt.isLate) throw error;
      attempt.sent = this.#send(data);
      return responseOf(attempt.sent);
    }
  }

  #send(data: Uint8Array): http.ClientRequest {
    const headers = { ...this.#headers, 'Content-Length': data.length };
    return this.#request({ ...this.#options, headers }).end(data);
  }
}

/** An export that is under way. */
interface Attempt {
  /** The request; another one if it was sent again. */
  sent: http.ClientRequest | undefined;
  /** Whether it took too long. */
  isLate: boolean;
}

/** Attack: a connection that switches to another protocol has neither a response nor an error, only an end. */
function responseOf(sent: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.on('error', reject);
    sent.once('close', () => reject(UNANSWERED));
  });
}

/** It does without the proxies of the environment, as everything that this process sends. */
const AGENT: https.AgentOptions = { keepAlive: true, maxSockets: 4 };

function bodyOf(response: http.IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_RESPONSE_BYTES) chunks.push(chunk);
      else response.destroy(new ExportFailure('the response is too large', false));
    });
    response.once('end', () => resolve(Buffer.concat(chunks)));
    response.once('error', reject);
  });
}

/** Made once: an error costs more than all else of a request, and each request ends with `close`. */
const UNANSWERED = new ExportFailure('the collector closed the connection', true);
const CLOSED = new ExportFailure('tracing ended before the collector answered', true);

function refusal(status: number): ExportFailure {
  const remedy = status === NOT_FOUND ? ': the path of the endpoint may be wrong' : '';
  return new ExportFailure(`HTTP status ${String(status)}${remedy}`, RETRYABLE.has(status));
}

/** What a wrong endpoint looks like: what Node says of it hardly tells. */
const MISTAKES: ReadonlyMap<string | undefined, string> = new Map([
  ['HPE_INVALID_CONSTANT', 'no HTTP/1.1 is spoken there: it may be the port for gRPC'],
  ['EPROTO', 'no TLS is spoken there: it may be an endpoint for http'],
]);

function failureOf(error: unknown, { isLate }: Attempt): ExportFailure {
  if (error instanceof ExportFailure) return error;
  if (isLate) return new ExportFailure('the collector did not answer in time', true);
  const mistake = MISTAKES.get(errorCode(error));
  if (mistake !== undefined) return new ExportFailure(mistake, true);
  return new ExportFailure('the collector cannot be reached', true, { cause: error });
}
