import type { ServerResponse } from 'node:http';

import type { Dispatcher } from 'undici';

import { ClientGoneError } from '../errors/request-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { cutOff } from './cut-off.ts';
import {
  informationHeaders,
  responseHeaders,
  responseTrailers,
  type HeaderOverlay,
  type RawFields,
} from './response-headers.ts';
import { isConnectionLost, upstreamFailure } from './upstream-failure.ts';

/** Where the response of the upstream goes. */
export interface Exchange {
  readonly request: GatewayRequest;
  readonly response: ServerResponse;
  readonly responseHeaders?: HeaderOverlay;
}

/** What becomes of an exchange. */
export interface Outcome {
  /** The client has the whole response. */
  readonly done: () => void;
  /** Nothing was sent to the client, or it was cut off: there is nothing more to tell it then. */
  readonly failed: (error: Error) => void;
}

const FIRST_FINAL_STATUS = 200;
const EARLY_HINTS = 103;

/**
 * Writes the response of an upstream to the client as it comes, and keeps the two together: whoever
 * leaves first takes the other along.
 */
export class ResponseRelay implements Dispatcher.DispatchHandler {
  readonly #exchange: Exchange;
  readonly #outcome: Outcome;
  #retry: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  /** The upstream has begun to answer: the request must not be repeated. */
  #hasBegun = false;
  #isSettled = false;
  #isClientGone = false;
  #failure: Error | undefined;
  /** The head, and perhaps a chunk, wait for the end of the turn: most responses end in it. */
  #isHolding = false;
  #held: Buffer | undefined;
  #endsWithConnection = false;

  /** `retry` sends the request again; absent where it must not be repeated. */
  constructor(exchange: Exchange, outcome: Outcome, retry: (() => void) | undefined) {
    this.#exchange = exchange;
    this.#outcome = outcome;
    this.#retry = retry;
    exchange.response.on('close', this.#onClose);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isClientGone) controller.abort(clientGone());
  }

  onResponseStarted(): void {
    this.#hasBegun = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusMessage?: string,
  ): void {
    this.#hasBegun = true;
    const raw = rawFields(controller.rawHeaders);
    if (status < FIRST_FINAL_STATUS) {
      if (status === EARLY_HINTS) this.#hint(raw);
      return;
    }
    const { request, response, responseHeaders: overlay } = this.#exchange;
    const framing = {
      status,
      hasNoBody: request.method === 'HEAD' || status === 204 || status === 304,
      canChunk: response.useChunkedEncodingByDefault,
    };
    const { fields, endsWithConnection } = responseHeaders(raw, framing, overlay);
    this.#endsWithConnection = endsWithConnection;
    response.writeHead(status, reasonPhrase(statusMessage), fields);
    this.#isHolding = true;
    queueMicrotask(this.#release);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isHolding && this.#held === undefined) {
      this.#held = chunk;
      return;
    }
    this.#release();
    this.#write(controller, chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    const { response } = this.#exchange;
    const trailers = rawFields(controller.rawTrailers);
    if (trailers.length > 0) response.addTrailers(responseTrailers(trailers));
    this.#isHolding = false;
    response.end(this.#held);
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#isSettled || this.#failure !== undefined) return;
    const { response } = this.#exchange;
    if (response.headersSent) {
      this.#failure = upstreamFailure(error);
      this.#release();
      // What was received still leaves in this turn; then the client must see that it is not all.
      setImmediate(() => cutOff(response, this.#endsWithConnection));
      return;
    }
    const retry = this.#retry;
    const wasSent = this.#controller !== undefined;
    if (retry !== undefined && wasSent && !this.#hasBegun && isConnectionLost(error)) {
      this.#retry = undefined;
      this.#controller = undefined;
      retry();
      return;
    }
    this.#isSettled = true;
    this.#outcome.failed(upstreamFailure(error));
  }

  readonly #onClose = (): void => {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#exchange.response.writableFinished) {
      this.#outcome.done();
      return;
    }
    this.#isClientGone = true;
    this.#controller?.abort(clientGone());
    this.#outcome.failed(this.#failure ?? clientGone());
  };

  /** Sends what waits. Also the head alone: the first event of a stream may be long in coming. */
  readonly #release = (): void => {
    if (!this.#isHolding) return;
    this.#isHolding = false;
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) this.#exchange.response.flushHeaders();
    else if (this.#controller !== undefined) this.#write(this.#controller, held);
  };

  #write(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { response } = this.#exchange;
    if (response.write(chunk) || controller.paused) return;
    controller.pause();
    response.once('drain', () => controller.resume());
  }

  #hint(raw: RawFields): void {
    const { request, response } = this.#exchange;
    // RFC 9110, section 15.2: no informational responses to HTTP/1.0. Node 24 cannot send these.
    if (request.message.httpVersionMinor === 0 || !('writeInformation' in response)) return;
    response.writeInformation(EARLY_HINTS, informationHeaders(raw));
  }
}

function clientGone(): ClientGoneError {
  return new ClientGoneError('the client left before its response was whole');
}

function rawFields(raw: Dispatcher.DispatchController['rawHeaders']): RawFields {
  return Array.isArray(raw) ? raw : [];
}

/** Reason phrases are decoration (RFC 9112, section 4); only harmless ones are passed on. */
function reasonPhrase(text: string | undefined): string | undefined {
  return text !== undefined && /^[\t\x20-\x7e]+$/.test(text) ? text : undefined;
}
