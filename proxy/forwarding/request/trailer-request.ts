import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';

import type { Dispatcher } from 'undici';

import { UpstreamTimeoutError, UpstreamUnreachableError } from '../../errors/upstream-errors.ts';
import type { RequestMessage } from '../../http/request-message.ts';
import { asError } from '../as-error.ts';
import { ClientController } from '../client-controller.ts';
import { agentOn } from '../targets/connect-target.ts';
import type { RequestBody } from './request-body.ts';
import { upstreamTrailers } from './upstream-headers.ts';
import { mayTrail } from '../foreign-fields.ts';
import { CONNECT_TIMEOUT_MS } from '../targets/upstream-pools.ts';
import { hostOf, type UpstreamRequest } from './upstream-request.ts';

/** Returns whether a request announces trailer fields. Unannounced ones are dropped. */
export function announcesTrailers({ headers }: Pick<RequestMessage, 'headers'>): boolean {
  return headers.trailer !== undefined && headers['transfer-encoding'] !== undefined;
}

/**
 * A chunked request with trailer fields, on a new connection or on a given one.
 *
 * Undici cannot send trailers, so this calls a handler as undici would, from Node's client.
 */
export class TrailerRequest {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #message: RequestMessage;
  readonly #body: RequestBody;
  readonly #request: ClientRequest;
  readonly #controller: ClientController;
  readonly #responseTimeoutMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    upstream: UpstreamRequest,
    body: RequestBody,
    handler: Dispatcher.DispatchHandler,
    connection?: Socket,
  ) {
    const { method, message } = upstream.request;
    this.#handler = handler;
    this.#message = message;
    this.#body = body;
    this.#responseTimeoutMs = upstream.responseTimeoutMs;
    const create = upstream.origin.startsWith('https:') ? httpsRequest : httpRequest;
    this.#request = create(upstream.origin, {
      method,
      path: upstream.path,
      headers: [...upstream.headers, ...transportHeaders(upstream.origin, message)],
      agent: connection === undefined ? false : agentOn(connection),
    });
    this.#controller = new ClientController(this.#request);
  }

  send(): void {
    const request = this.#request;
    request.on('error', this.#fail);
    request.on('socket', (socket) => {
      if (!socket.connecting) return;
      this.#failAfter(
        CONNECT_TIMEOUT_MS,
        () => new UpstreamUnreachableError('connecting timed out'),
      );
      const connected = request.protocol === 'https:' ? 'secureConnect' : 'connect';
      socket.once(connected, () => clearTimeout(this.#timer));
    });
    request.on('finish', () => {
      if (this.#responseTimeoutMs === 0) return;
      this.#failAfter(
        this.#responseTimeoutMs,
        () => new UpstreamTimeoutError('the upstream did not begin its response in time'),
      );
    });
    request.on('information', ({ statusCode, rawHeaders }) => {
      this.#controller.rawHeaders = rawHeaders;
      this.#handler.onResponseStart?.(this.#controller, statusCode, {});
    });
    request.on('response', this.#onResponse);
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      this.#fail(new UpstreamUnreachableError('the upstream switched protocols unasked'));
    });
    this.#handler.onRequestStart?.(this.#controller, null);
    this.#sendBody();
  }

  #sendBody(): void {
    const request = this.#request;
    const body = this.#body;
    request.flushHeaders();
    body.on('error', this.#fail);
    body.on('data', (chunk: Buffer) => {
      if (request.write(chunk)) return;
      body.pause();
      request.once('drain', () => body.resume());
    });
    body.on('end', () => {
      request.addTrailers(upstreamTrailers(this.#message.rawTrailers));
      request.end();
    });
  }

  readonly #onResponse = (response: IncomingMessage): void => {
    clearTimeout(this.#timer);
    this.#controller.begin(response);
    response.on('error', this.#fail);
    try {
      const { statusCode = 0, statusMessage } = response;
      this.#handler.onResponseStart?.(this.#controller, statusCode, {}, statusMessage);
    } catch (error) {
      this.#fail(asError(error));
      return;
    }
    response.on('data', (chunk: Buffer) => {
      this.#handler.onResponseData?.(this.#controller, chunk);
    });
    response.on('end', () => {
      if (!this.#finish()) return;
      this.#controller.rawTrailers = response.rawTrailers;
      this.#handler.onResponseEnd?.(this.#controller, {});
    });
  };

  #failAfter(timeoutMs: number, reason: () => Error): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(reason()), timeoutMs);
  }

  readonly #fail = (error: Error): void => {
    if (this.#finish()) this.#handler.onResponseError?.(this.#controller, error);
  };

  /** Releases both sides; returns false if that was done before. */
  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#body.destroy();
    this.#request.destroy();
    return true;
  }
}

function transportHeaders(origin: string, { headers }: Pick<RequestMessage, 'headers'>): string[] {
  const announced = (headers.trailer ?? '').split(',').map((name) => name.trim());
  const trailer = announced.filter(mayTrail).join(', ');
  return [
    // After `Connection: close` an upstream may reset the connection while the body is still sent.
    ...['Host', hostOf(origin)],
    ...['Connection', 'keep-alive', 'Transfer-Encoding', 'chunked'],
    ...(trailer === '' ? [] : ['Trailer', trailer]),
  ];
}
