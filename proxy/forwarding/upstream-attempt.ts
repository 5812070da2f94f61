import { ConnectionError } from '../upstream-client/connection-error.ts';
import type { OutgoingRequest } from '../upstream-client/outgoing-request.ts';
import type { ResponseControl, ResponseHandler } from '../upstream-client/response-handler.ts';
import { asError } from '../errors/as-error.ts';
import { streamedBody } from './request/request-body.ts';
import { hostOf, type UpstreamBody, type UpstreamRequest } from './request/upstream-request.ts';
import type { ResponseSink } from './response/response-sink.ts';
import type { RawFields } from './response/response-headers.ts';
import type { ResponseHead } from './response/response-relay.ts';
import type { TargetLoads } from './targets/target-loads.ts';
import { TargetVisit } from './targets/target-visit.ts';
import type { UpstreamPools } from './targets/upstream-pools.ts';
import { upstreamFailure } from './upstream-failure.ts';

/** Receives the response to an attempt: hints, then the response; or a failure before the response. */
export interface AttemptListener {
  /** `103 Early Hints`. */
  onHints(rawHeaders: RawFields): void;
  /** Returns the sink of the body; undefined if the attempt was abandoned. */
  onResponse(head: ResponseHead): ResponseSink | undefined;
  onFailure(error: Error): void;
}

/** The connections that attempts use. */
export interface UpstreamConnections {
  readonly pools: UpstreamPools;
  readonly loads: TargetLoads;
}

const EARLY_HINTS = 103;

/** Idempotent methods: their requests may be sent again (RFC 9110, section 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT']);

/**
 * One request at its upstream, up to the end of the response. It is sent again where that is safe: to
 * another target when no connection could be made, and once to the same when the connection of an
 * idempotent request was lost before the response.
 */
export class UpstreamAttempt implements ResponseHandler, ResponseControl {
  readonly #upstream: UpstreamRequest;
  readonly #request: OutgoingRequest;
  readonly #listener: AttemptListener;
  readonly #pools: UpstreamPools;
  readonly #visit: TargetVisit | undefined;
  /** Present from the start of the request to the end of the response: then others may have it. */
  #control: ResponseControl | undefined;
  /** Receives the body once the upstream has answered. */
  #sink: ResponseSink | undefined;
  /** False after the request was sent again. */
  #mayResend: boolean;
  /** Whether nothing more is to be done with the response. */
  #isOver = false;

  /** Throws `UpstreamUnreachableError` when there is no target. */
  constructor(
    upstream: UpstreamRequest,
    body: UpstreamBody,
    listener: AttemptListener,
    { pools, loads }: UpstreamConnections,
  ) {
    this.#upstream = upstream;
    this.#listener = listener;
    this.#pools = pools;
    this.#visit = upstream.choice && new TargetVisit(upstream.choice, loads);
    this.#request = outgoingRequest(upstream, body);
    this.#mayResend = body !== 'stream' && IDEMPOTENT.has(upstream.request.method);
  }

  /** The origin to which the request is sent: `scheme://host[:port]`. */
  get origin(): string {
    return this.#visit?.origin ?? this.#upstream.origin;
  }

  /** Sends the request, and reports the response to the listener. */
  send(): void {
    try {
      this.#pools.send(this.origin, this.#request, this);
    } catch (error) {
      this.#listener.onFailure(upstreamFailure(asError(error)));
    }
  }

  /** Passes the rest of the response to a different sink. */
  continueInto(sink: ResponseSink): void {
    this.#sink = sink;
    this.resume();
  }

  /** Ends the attempt after the whole response was relayed. */
  finish(): void {
    this.#isOver = true;
    this.#visit?.leave();
  }

  /** Closes the connection, and discards the rest of the upstream's response. */
  abandon(): void {
    this.#isOver = true;
    this.abort();
    this.#visit?.leave();
  }

  get paused(): boolean {
    return this.#control?.paused ?? false;
  }

  pause(): void {
    this.#control?.pause();
  }

  resume(): void {
    this.#control?.resume();
  }

  abort(): void {
    this.#control?.abort();
    this.#control = undefined;
  }

  onRequestStart(control: ResponseControl): boolean {
    if (this.#isOver) return false;
    this.#control = control;
    return true;
  }

  onInformation(status: number, rawHeaders: readonly string[]): void {
    if (status === EARLY_HINTS) this.#listener.onHints(rawHeaders);
  }

  onResponseStart(status: number, reason: string, rawHeaders: readonly string[]): void {
    this.#sink = this.#listener.onResponse({ status, reason, rawHeaders, controller: this });
  }

  onResponseData(chunk: Buffer): void {
    this.#sink?.write(chunk);
  }

  onResponseEnd(rawTrailers: readonly string[]): void {
    this.#control = undefined;
    this.#sink?.end(rawTrailers);
  }

  onResponseError(error: Error): void {
    this.#control = undefined;
    if (this.#isOver) return;
    if (this.#sink !== undefined) this.#sink.fail(upstreamFailure(error));
    else if (this.#canSendAgain(error)) this.send();
    else this.#listener.onFailure(upstreamFailure(error));
  }

  /** Returns whether the request can be sent again after an error, to the current `origin`. */
  #canSendAgain(error: Error): boolean {
    if (!(error instanceof ConnectionError)) return false;
    const { span } = this.#upstream;
    if (error.code === 'no-connection') {
      if (this.#visit?.moveOn() !== true) return false;
      span?.event('sent to another target', { 'error.type': error.code });
      return true;
    }
    if (error.code !== 'connection-lost' || !this.#mayResend) return false;
    this.#mayResend = false;
    span?.event('sent again', { 'error.type': error.code });
    return true;
  }
}

function outgoingRequest(
  { request, origin, path, headers, responseTimeoutMs }: UpstreamRequest,
  body: UpstreamBody,
): OutgoingRequest {
  return {
    method: request.method,
    path,
    // The name of the Service, also where one of its targets gets the request.
    host: hostOf(origin),
    headers,
    body: body === 'stream' ? streamedBody(request.message) : body === 'none' ? undefined : body,
    responseTimeoutMs,
  };
}
