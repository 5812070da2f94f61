import type { ClientResponse } from '../../http/client-response.ts';
import type { GatewayRequest } from '../../http/gateway-request.ts';
import type { ResponseControl } from '../../upstream-client/response-handler.ts';
import { asError } from '../../errors/as-error.ts';
import type { ForwardedEnd } from '../forwarded.ts';
import type { ResponseSink } from './response-sink.ts';
import { EventStream } from './event-stream.ts';
import type { OpenStreams } from './open-streams.ts';
import {
  isBodiless,
  responseHeaders,
  responseTrailers,
  type RawFields,
  type ResponseHeaders,
} from './response-headers.ts';
import type { BodyFilter, RelayPlan } from './response-plan.ts';

/** The head of an upstream's final response, and the controller of the rest. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly rawHeaders: RawFields;
  readonly controller: ResponseControl;
}

/** The client's side of a relay. */
export interface RelayClient {
  readonly request: GatewayRequest;
  readonly response: ClientResponse;
  readonly streams: OpenStreams;
  /** Lower-case names of fields that the route lets through. */
  readonly passed?: readonly string[] | undefined;
}

/** Writes an upstream's response to the client as it comes, once its head is planned. */
export class ResponseRelay implements ResponseSink {
  readonly #head: ResponseHead;
  readonly #response: ClientResponse;
  readonly #streams: OpenStreams;
  readonly #headers: ResponseHeaders;
  readonly #filter: BodyFilter | undefined;
  #events: EventStream | undefined;
  #bytes = 0;
  #failure: Error | undefined;

  /** Writes the head. Throws if it cannot be passed on. */
  constructor(
    head: ResponseHead,
    plan: RelayPlan,
    { request, response, streams, passed }: RelayClient,
  ) {
    const { status } = head;
    const hasNoBody = request.method === 'HEAD' || isBodiless(status);
    const framing = {
      status,
      hasNoBody,
      canChunk: response.canChunk,
      isFiltered: plan.body !== undefined,
      passed,
    };
    this.#head = head;
    this.#response = response;
    this.#streams = streams;
    this.#filter = hasNoBody ? undefined : plan.body;
    this.#headers = responseHeaders(head.rawHeaders, framing, plan.headers);
    response.sendHead(status, reasonPhrase(head.reason), this.#headers.fields);
    if (this.#headers.isEventStream) this.#openEventStream(request);
  }

  get status(): number {
    return this.#head.status;
  }

  /** Number of bytes of the body that were written. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Why the response was cut off; undefined if it was not. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  write(chunk: Buffer): void {
    if (this.#failure !== undefined || this.#response.writableEnded) return;
    const passed = this.#filter === undefined ? chunk : this.#filtered(this.#filter, chunk);
    if (passed !== undefined) this.#send(passed);
  }

  end(trailers: RawFields): void {
    if (this.#failure !== undefined || this.#response.writableEnded) return;
    if (this.#filter !== undefined) {
      const rest = this.#filtered(this.#filter);
      if (rest === undefined) return;
      this.#send(rest);
      if (this.#events?.isOver === true) return;
    }
    this.#response.endBody(responseTrailers(trailers));
  }

  /** Cuts the response off, so that the client knows that it is incomplete. */
  fail(error: Error): void {
    if (this.#failure !== undefined || this.#response.writableEnded) return;
    this.#failure = error;
    // Bytes that were received before leave in this turn.
    setImmediate(() => this.#response.cutOff(this.#headers.endsWithConnection));
  }

  /** Ends the relay when the client's side is closed, and returns how the response ended. */
  close(): ForwardedEnd {
    if (this.#events !== undefined) this.#streams.delete(this.#events);
    if (this.#failure !== undefined) return 'cut-off';
    if (!this.#response.writableFinished) return 'client-gone';
    return this.#events?.isOver === true ? 'ended-by-gateway' : 'complete';
  }

  /** Returns the filter's result for a chunk, or for the end; undefined if it failed. */
  #filtered(filter: BodyFilter, chunk?: Buffer): Buffer | undefined {
    try {
      return chunk === undefined ? filter.end() : filter.write(chunk);
    } catch (error) {
      this.fail(asError(error));
      this.#head.controller.abort();
      return undefined;
    }
  }

  #send(chunk: Buffer): void {
    const response = this.#response;
    const events = this.#events;
    const part = events?.pass(chunk) ?? chunk;
    this.#bytes += part.length;
    const hasRoom = response.sendPart(part);
    if (events?.isOver === true) {
      this.#endEarly();
      return;
    }
    const { controller } = this.#head;
    if (hasRoom || controller.paused) return;
    controller.pause();
    response.once('drain', () => controller.resume());
  }

  #openEventStream({ method, message }: GatewayRequest): void {
    const answersCall = method !== 'GET';
    const isResumed = message.headers['last-event-id'] !== undefined;
    this.#events = new EventStream({ answersCall, isResumed }, this.#endEarly);
    this.#streams.add(this.#events);
  }

  /** Ends the response after the last event, and aborts the upstream's. */
  readonly #endEarly = (): void => {
    this.#response.endBody([]);
    this.#head.controller.abort();
  };
}

/** Reason phrases are decoration (RFC 9112, section 4); only harmless ones are passed on. */
function reasonPhrase(text: string): string | undefined {
  return /^[\t\x20-\x7e]+$/.test(text) ? text : undefined;
}
