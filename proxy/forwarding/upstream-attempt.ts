import type { Dispatcher } from 'undici';

import { asError } from './as-error.ts';
import { RequestBody } from './request/request-body.ts';
import { announcesTrailers, TrailerRequest } from './request/trailer-request.ts';
import { hostOf, type UpstreamBody, type UpstreamRequest } from './request/upstream-request.ts';
import type { ResponseSink } from './response/response-sink.ts';
import type { RawFields } from './response/response-headers.ts';
import type { ResponseHead } from './response/response-relay.ts';
import { isFinalStatus } from './response/response-status.ts';
import { connectTarget } from './targets/connect-target.ts';
import type { TargetLoads } from './targets/target-loads.ts';
import { TargetVisit } from './targets/target-visit.ts';
import type { UpstreamPools } from './targets/upstream-pools.ts';
import { isConnectionLost, isNotConnected, upstreamFailure } from './upstream-failure.ts';

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
export class UpstreamAttempt implements Dispatcher.DispatchHandler {
  readonly #upstream: UpstreamRequest;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #listener: AttemptListener;
  readonly #pools: UpstreamPools;
  readonly #visit: TargetVisit | undefined;
  /** Absent while the request waits for a connection. */
  #controller: Dispatcher.DispatchController | undefined;
  /** Receives the body once the upstream has answered. */
  #sink: ResponseSink | undefined;
  /** False once the upstream has begun to answer, or after the request was sent again. */
  #mayResend: boolean;
  /** Why the attempt is over; undefined before its end. */
  #endedBy: Error | 'done' | undefined;

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
    this.#options = dispatchOptions(upstream, body);
    this.#mayResend = body !== 'stream' && IDEMPOTENT.has(upstream.request.method);
  }

  /** The origin to which the request is sent: `scheme://host[:port]`. */
  get origin(): string {
    return this.#visit?.origin ?? this.#upstream.origin;
  }

  /** Sends the request, and reports the response to the listener. */
  send(): void {
    this.#controller = undefined;
    const { body } = this.#options;
    if (body instanceof RequestBody && announcesTrailers(this.#upstream.request.message)) {
      this.#sendWithTrailers(body);
    } else {
      this.#pools.dispatch(this.origin, this.#options, this);
    }
  }

  /** Passes the rest of the response to a different sink. */
  continueInto(sink: ResponseSink): void {
    this.#sink = sink;
    this.#controller?.resume();
  }

  /** Ends the attempt after the whole response was relayed. */
  finish(): void {
    this.#endedBy ??= 'done';
    this.#visit?.leave();
  }

  /** Closes the connection, and discards the rest of the upstream's response. */
  abandon(reason: Error): void {
    if (this.#endedBy === undefined) {
      this.#endedBy = reason;
      this.#controller?.abort(reason);
    }
    this.#visit?.leave();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#endedBy instanceof Error) controller.abort(this.#endedBy);
  }

  onResponseStarted(): void {
    this.#mayResend = false;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    reason?: string,
  ): void {
    this.#mayResend = false;
    const rawHeaders = rawFields(controller.rawHeaders);
    if (isFinalStatus(status)) {
      this.#sink = this.#listener.onResponse({ status, reason, rawHeaders, controller });
    } else if (status === EARLY_HINTS) {
      this.#listener.onHints(rawHeaders);
    }
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#sink?.write(chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#sink?.end(rawFields(controller.rawTrailers));
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#endedBy !== undefined) return;
    if (this.#sink !== undefined) {
      this.#sink.fail(upstreamFailure(error));
      return;
    }
    if (this.#canSendAgain(error)) {
      this.send();
      return;
    }
    this.#listener.onFailure(upstreamFailure(error));
  }

  /** Returns whether the request can be sent again after an error, to the current `origin`. */
  #canSendAgain(error: Error): boolean {
    const wasSent = this.#controller !== undefined;
    if (!wasSent) return isNotConnected(error) && this.#visit?.moveOn() === true;
    if (!this.#mayResend || !isConnectionLost(error)) return false;
    this.#mayResend = false;
    return true;
  }

  /** Connects to a target first, because the client's body can be read only once. */
  #sendWithTrailers(body: RequestBody): void {
    const visit = this.#visit;
    if (visit === undefined) {
      new TrailerRequest(this.#upstream, body, this).send();
      return;
    }
    connectTarget(visit)
      .then((socket) => new TrailerRequest(this.#upstream, body, this, socket).send())
      .catch((error: unknown) => this.onResponseError(undefined, asError(error)));
  }
}

function dispatchOptions(
  upstream: UpstreamRequest,
  body: UpstreamBody,
): Dispatcher.DispatchOptions {
  const { request, path, responseTimeoutMs } = upstream;
  const { message, method } = request;
  const isStream = body === 'stream';
  return {
    path,
    method,
    headers: headersOf(upstream, isStream ? message.headers['content-length'] : undefined),
    body: isStream ? new RequestBody(message) : body === 'none' ? null : body,
    headersTimeout: responseTimeoutMs,
  };
}

function headersOf(
  { origin, choice, headers }: UpstreamRequest,
  contentLength: string | undefined,
): string[] {
  const all = [...headers];
  // `Host` names the Service, not the address of the target.
  if (choice !== undefined) all.push('Host', hostOf(origin));
  if (contentLength !== undefined) all.push('Content-Length', contentLength);
  return all;
}

function rawFields(raw: Dispatcher.DispatchController['rawHeaders']): RawFields {
  return Array.isArray(raw) ? raw : [];
}
