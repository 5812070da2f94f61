import type { Dispatcher } from 'undici';

import { ClientGoneError } from '../../errors/request-errors.ts';
import type { ClientResponse } from '../../http/client-response.ts';
import type { GatewayRequest } from '../../http/gateway-request.ts';
import { EventStream } from './event-stream.ts';
import type { OpenStreams } from './open-streams.ts';
import {
  informationHeaders,
  responseHeaders,
  responseTrailers,
  type HeaderOverlay,
  type RawFields,
} from './response-headers.ts';
import { isConnectionLost, isNotConnected, upstreamFailure } from '../upstream-failure.ts';

/** Where the response of the upstream goes. */
export interface Exchange {
  readonly request: GatewayRequest;
  readonly response: ClientResponse;
  readonly responseHeaders?: HeaderOverlay;
}

/** What becomes of an exchange. */
export interface Outcome {
  /** The client has the whole response. */
  readonly done: () => void;
  /** Nothing was sent to the client, or it was cut off: there is nothing more to tell it then. */
  readonly failed: (error: Error) => void;
}

/** How a request can be sent once more; absent where it must not be, or cannot. */
export interface Repeats {
  /** Sends it again, after a connection that it was written to was lost without an answer. */
  readonly again?: (() => void) | undefined;
  /** Sends it elsewhere, after no connection could be made; false when there is nowhere else. */
  readonly elsewhere?: (() => boolean) | undefined;
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
  readonly #streams: OpenStreams;
  readonly #repeats: Repeats;
  #isRepeated = false;
  #events: EventStream | undefined;
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

  constructor(
    exchange: Exchange,
    outcome: Outcome,
    { repeats, streams }: { readonly repeats: Repeats; readonly streams: OpenStreams },
  ) {
    this.#exchange = exchange;
    this.#outcome = outcome;
    this.#repeats = repeats;
    this.#streams = streams;
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
      if (status === EARLY_HINTS) this.#exchange.response.sendHints(informationHeaders(raw));
      return;
    }
    const { request, response, responseHeaders: overlay } = this.#exchange;
    const framing = {
      status,
      hasNoBody: request.method === 'HEAD' || status === 204 || status === 304,
      canChunk: response.canChunk,
    };
    const headers = responseHeaders(raw, framing, overlay);
    this.#endsWithConnection = headers.endsWithConnection;
    response.writeHead(status, reasonPhrase(statusMessage), headers.fields);
    this.#isHolding = true;
    queueMicrotask(this.#release);
    if (headers.isEventStream) this.#openEventStream();
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
    if (response.writableEnded) return;
    const trailers = rawFields(controller.rawTrailers);
    if (trailers.length > 0) response.addTrailers(responseTrailers(trailers));
    this.#isHolding = false;
    response.end(this.#held);
  }

  onResponseError(_controller: unknown, error: Error): void {
    const { response } = this.#exchange;
    if (this.#isSettled || this.#failure !== undefined || response.writableEnded) return;
    if (response.headersSent) {
      this.#failure = upstreamFailure(error);
      this.#release();
      // What was received still leaves in this turn; then the client must see that it is not all.
      setImmediate(() => response.cutOff(this.#endsWithConnection));
      return;
    }
    if (this.#repeat(error)) return;
    this.#isSettled = true;
    this.#outcome.failed(upstreamFailure(error));
  }

  /** Whether the request was sent once more instead. */
  #repeat(error: Error): boolean {
    const { again, elsewhere } = this.#repeats;
    const wasSent = this.#controller !== undefined;
    if (!wasSent) return elsewhere !== undefined && isNotConnected(error) && elsewhere();
    if (again === undefined || this.#isRepeated) return false;
    if (this.#hasBegun || !isConnectionLost(error)) return false;
    this.#isRepeated = true;
    this.#controller = undefined;
    again();
    return true;
  }

  readonly #onClose = (): void => {
    if (this.#events !== undefined) this.#streams.delete(this.#events);
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
    if (response.writableEnded) return;
    const events = this.#events;
    const hasRoom = response.write(events?.take(chunk) ?? chunk);
    if (events?.isOver === true) {
      this.#endEarly();
      return;
    }
    if (hasRoom || controller.paused) return;
    controller.pause();
    response.once('drain', () => controller.resume());
  }

  #openEventStream(): void {
    const isAnswer = this.#exchange.request.method !== 'GET';
    this.#events = new EventStream(isAnswer, this.#endEarly);
    this.#streams.add(this.#events);
  }

  /** Ends the response, whole as far as it goes, and takes the upstream along. */
  readonly #endEarly = (): void => {
    this.#release();
    this.#exchange.response.end();
    this.#controller?.abort(new ClientGoneError('the gateway ended the event stream'));
  };
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
