import { performance } from 'node:perf_hooks';

import { ClientGoneError } from '../errors/request-errors.ts';
import type { ClientResponse } from '../http/client-response.ts';
import { asError } from '../errors/as-error.ts';
import type { Forwarded } from './forwarded.ts';
import type { UpstreamBody, UpstreamRequest } from './request/upstream-request.ts';
import { HeldResponse, type ResponseSink } from './response/response-sink.ts';
import type { OpenStreams } from './response/open-streams.ts';
import { informationHeaders, type RawFields } from './response/response-headers.ts';
import { repeatWith, type ResponsePlanner, type ResponsePlan } from './response/response-plan.ts';
import { ResponseRelay, type ResponseHead } from './response/response-relay.ts';
import {
  UpstreamAttempt,
  type AttemptListener,
  type UpstreamConnections,
} from './upstream-attempt.ts';
import { upstreamFailure } from './upstream-failure.ts';

/** Options of an `Exchange`, shared by all requests of a process. */
export interface ExchangeOptions extends UpstreamConnections {
  readonly streams: OpenStreams;
}

/** One request to forward, and where its response goes. */
export interface ForwardCall {
  readonly upstream: UpstreamRequest;
  /** Replaces the body of `upstream`: a small one was read first. */
  readonly body: UpstreamBody;
  readonly response: ClientResponse;
  readonly planner: ResponsePlanner;
}

/**
 * One permitted request and its response: sends the request, gets a plan for the response, and carries
 * the plan out. If the client leaves, the request to the upstream is aborted.
 *
 * A plan can have the request sent again after a response. What an `UpstreamAttempt` sends again had no
 * response: no connection could be made, or one was lost.
 */
export class Exchange implements AttemptListener {
  readonly #call: ForwardCall;
  readonly #options: ExchangeOptions;
  readonly #outcome = Promise.withResolvers<Forwarded>();
  readonly #startedAt = performance.now();
  #firstByteMs = 0;
  /** Absent before the exchange begins, and after its end. */
  #attempt: UpstreamAttempt | undefined;
  /** Absent until a response is relayed. */
  #relay: ResponseRelay | undefined;
  #isRepeated = false;

  constructor(call: ForwardCall, options: ExchangeOptions) {
    this.#call = call;
    this.#options = options;
  }

  /** Resolves when a response has begun and ended; rejects when the client has got nothing yet. */
  run(): Promise<Forwarded> {
    const { response, upstream } = this.#call;
    if (response.destroyed) {
      return Promise.reject(
        new ClientGoneError('the client left before its request was forwarded'),
      );
    }
    response.on('close', this.#onClose);
    this.#send(upstream);
    return this.#outcome.promise;
  }

  onHints(rawHeaders: RawFields): void {
    this.#call.response.sendHints(informationHeaders(rawHeaders));
  }

  onResponse(head: ResponseHead): ResponseSink | undefined {
    this.#firstByteMs = performance.now() - this.#startedAt;
    const { status, rawHeaders } = head;
    this.#call.upstream.span?.set('http.response.status_code', status);
    const repeat = this.#canRepeat() ? repeatWith : undefined;
    try {
      const plan = this.#call.planner({ status, rawHeaders, repeat });
      return plan instanceof Promise ? this.#hold(head, plan) : this.#carryOut(plan, head);
    } catch (error) {
      this.onFailure(asError(error));
      return undefined;
    }
  }

  /** Ends the exchange before anything was sent to the client. */
  onFailure(error: Error): void {
    this.#attempt?.abandon();
    this.#attempt = undefined;
    this.#outcome.reject(error);
  }

  #send(upstream: UpstreamRequest): void {
    try {
      this.#attempt = new UpstreamAttempt(upstream, this.#call.body, this, this.#options);
    } catch (error) {
      this.onFailure(asError(error));
      return;
    }
    this.#attempt.send();
  }

  /** The permit of another request proves nothing for this one. */
  #checkRepeat({ request }: UpstreamRequest): void {
    if (!this.#canRepeat()) throw new Error('the request cannot be sent again');
    if (request !== this.#call.upstream.request)
      throw new Error('the plan repeats another request');
  }

  #canRepeat(): boolean {
    return !this.#isRepeated && this.#call.body !== 'stream';
  }

  /** Pauses the upstream until the plan is made. */
  #hold(head: ResponseHead, plan: Promise<ResponsePlan>): ResponseSink {
    const held = new HeldResponse();
    const attempt = this.#attempt;
    head.controller.pause();
    plan
      .then((decided) => {
        // The client may have left meanwhile.
        if (this.#attempt !== attempt) return;
        if (decided.kind === 'relay' && held.failure !== undefined) throw held.failure;
        const sink = this.#carryOut(decided, head);
        if (sink === undefined) return;
        held.flowInto(sink);
        attempt?.continueInto(sink);
      })
      .catch((error: unknown) => this.onFailure(asError(error)));
    return held;
  }

  #carryOut(plan: ResponsePlan, head: ResponseHead): ResponseSink | undefined {
    switch (plan.kind) {
      case 'relay':
        try {
          const { upstream, response } = this.#call;
          const { streams } = this.#options;
          const { request, passResponseHeaders: passed } = upstream;
          const client = { request, response, streams, passed };
          return (this.#relay = new ResponseRelay(head, plan, client));
        } catch (error) {
          throw upstreamFailure(asError(error));
        }
      case 'repeat':
        this.#checkRepeat(plan.upstream);
        this.#isRepeated = true;
        plan.upstream.span?.event('sent again with a new token');
        this.#attempt?.abandon();
        this.#send(plan.upstream);
        return undefined;
      case 'answer':
        throw plan.error;
    }
  }

  readonly #onClose = (): void => {
    const attempt = this.#attempt;
    if (attempt === undefined) return;
    this.#attempt = undefined;
    const relay = this.#relay;
    if (this.#call.response.writableFinished) attempt.finish();
    else attempt.abandon();
    if (relay === undefined) {
      this.#outcome.reject(clientGone());
      return;
    }
    const ended = relay.close();
    this.#outcome.resolve({
      status: relay.status,
      bytes: relay.bytes,
      sentAt: this.#startedAt,
      firstByteMs: this.#firstByteMs,
      upstream: attempt.origin,
      ended,
      failure: relay.failure ?? (ended === 'client-gone' ? clientGone() : undefined),
    });
  };
}

function clientGone(): ClientGoneError {
  return new ClientGoneError('the client left before its response was whole');
}
