import http from 'node:http';
import https from 'node:https';

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
  readonly #target: HttpTarget;
  readonly #agent: http.Agent;
  #isClosed = false;

  constructor(target: HttpTarget) {
    this.#target = target;
    const isSecure = target.url.protocol === 'https:';
    this.#agent = isSecure ? new https.Agent(AGENT) : new http.Agent(AGENT);
  }

  async send(data: Uint8Array, timeoutMs: number): Promise<ExportResponse> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.#post(data, signal);
      const { statusCode = 0 } = response;
      const body = await bodyOf(response);
      if (statusCode >= 200 && statusCode <= MAX_SUCCESS) return { status: 'success', data: body };
      return { status: 'failure', error: refusal(statusCode) };
    } catch (error) {
      const failure = this.#isClosed ? CLOSED : failureOf(error, signal);
      return { status: 'failure', error: failure };
    }
  }

  /** Ends the exports that are under way. */
  shutdown(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }

  async #post(data: Uint8Array, signal: AbortSignal): Promise<http.IncomingMessage> {
    const sent = this.#request(data.length, signal);
    sent.end(data);
    try {
      return await responseOf(sent);
    } catch (error) {
      // The collector may have closed a kept connection at this moment, which is no failure of it.
      if (!sent.reusedSocket || signal.aborted) throw error;
      const again = this.#request(data.length, signal);
      again.end(data);
      return responseOf(again);
    }
  }

  #request(length: number, signal: AbortSignal): http.ClientRequest {
    const { url, headers, contentType } = this.#target;
    const { request } = url.protocol === 'https:' ? https : http;
    const own = { 'Content-Type': contentType, 'Content-Length': length };
    return request(url, {
      method: 'POST',
      agent: this.#agent,
      signal,
      headers: { 'User-Agent': 'gatehouse', ...headers, ...own },
    });
  }
}

/** Attack: a connection that switches to another protocol has neither a response nor an error, only an end. */
function responseOf(sent: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.on('error', reject);
    sent.once('close', () => {
      reject(new ExportFailure('the collector closed the connection', true));
    });
  });
}

/** It does without the proxies of the environment, as everything that this process sends. */
const AGENT: https.AgentOptions = { keepAlive: true, maxSockets: 4 };

async function bodyOf(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) throw new ExportFailure('the response is too large', false);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

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

function failureOf(error: unknown, { aborted: isLate }: AbortSignal): ExportFailure {
  if (error instanceof ExportFailure) return error;
  if (isLate) return new ExportFailure('the collector did not answer in time', true);
  const mistake = MISTAKES.get(errorCode(error));
  if (mistake !== undefined) return new ExportFailure(mistake, true);
  return new ExportFailure('the collector cannot be reached', true, { cause: error });
}
