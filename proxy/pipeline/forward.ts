import { Exchange, type ExchangeOptions, type ForwardCall } from '../forwarding/exchange.ts';
import type { Forwarded } from '../forwarding/forwarded.ts';
import type { UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import type { ResponsePlanner } from '../forwarding/response/response-plan.ts';
import { UpgradeRelay, type UpgradeClient } from '../forwarding/websocket/upgrade-relay.ts';
import type { ClientResponse } from '../http/client-response.ts';
import { askForBody } from '../http/expect-continue.ts';
import { hasBody } from '../http/has-body.ts';
import { readBody } from '../http/read-body.ts';

/** Bodies of at most this length are read first: that costs less, and the request can be sent again. */
const SMALL_BODY_BYTES = 64 * 1024;

/** Sends permitted requests to their upstreams, and the planned responses to their clients. */
export class Forwarder {
  readonly #options: ExchangeOptions;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /**
   * Resolves when a response that had begun is over, however it ended. Rejects if the client has got
   * nothing yet: with the error of an `AnswerPlan`, with `UpstreamUnreachableError` or
   * `UpstreamTimeoutError`, or with `ClientGoneError` if the client left.
   */
  forward(
    upstream: UpstreamRequest,
    response: ClientResponse,
    planner: ResponsePlanner,
  ): Promise<Forwarded> {
    const { message } = upstream.request;
    const { body } = upstream;
    if (body !== 'stream') return this.#exchange({ upstream, body, response, planner });
    if (!hasBody(message)) return this.#exchange({ upstream, body: 'none', response, planner });
    if (Number(message.headers['content-length'] ?? Infinity) > SMALL_BODY_BYTES) {
      askForBody(message);
      return this.#exchange({ upstream, body, response, planner });
    }
    return readBody(message, SMALL_BODY_BYTES).then((bytes) =>
      this.#exchange({ upstream, body: bytes, response, planner }),
    );
  }

  /**
   * Connects a client to its upstream by a WebSocket. Resolves when the WebSocket is over; or, with a
   * `failure`, when the client has got the response of an upstream that declined.
   *
   * Rejects if there was no answer: with `UpstreamUnreachableError` or `UpstreamTimeoutError` after the
   * client got 502 or 504, with `ClientGoneError` if the client left.
   */
  forwardUpgrade(upstream: UpstreamRequest, client: UpgradeClient): Promise<Forwarded> {
    return new UpgradeRelay(upstream, client, this.#options).run();
  }

  #exchange(call: ForwardCall): Promise<Forwarded> {
    return new Exchange(call, this.#options).run();
  }
}
