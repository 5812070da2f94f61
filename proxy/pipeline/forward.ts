import { Exchange, type ExchangeOptions, type ForwardCall } from '../forwarding/exchange.ts';
import type { Forwarded } from '../forwarding/forwarded.ts';
import type { UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import type { PlanResponse } from '../forwarding/response/response-plan.ts';
import { UpgradeRelay, type UpgradeClient } from '../forwarding/websocket/upgrade-relay.ts';
import type { ClientResponse } from '../http/client-response.ts';
import { askForBody } from '../http/expect-continue.ts';
import { hasBody } from '../http/has-body.ts';
import { readBody } from '../http/read-body.ts';

/** Bodies up to this length are read first: cheaper than a stream, and the request repeatable. */
const SMALL_BODY_BYTES = 64 * 1024;

/** Sends permitted requests to their upstreams, and what the plan makes of the answers back. */
export class Forwarder {
  readonly #options: ExchangeOptions;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /**
   * Resolves when a response that had begun is over, however it ended. Rejects when the client has
   * got nothing yet: with the error that the plan answers with, with `UpstreamUnreachableError` or
   * `UpstreamTimeoutError`, or with `ClientGoneError` when the client left.
   */
  forward(
    upstream: UpstreamRequest,
    response: ClientResponse,
    plan: PlanResponse,
  ): Promise<Forwarded> {
    const { message } = upstream.request;
    const { body } = upstream;
    if (body !== 'stream') return this.#exchange({ upstream, body, response, plan });
    if (!hasBody(message)) return this.#exchange({ upstream, body: 'none', response, plan });
    if (Number(message.headers['content-length'] ?? Infinity) > SMALL_BODY_BYTES) {
      askForBody(message);
      return this.#exchange({ upstream, body, response, plan });
    }
    return readBody(message, SMALL_BODY_BYTES).then((bytes) =>
      this.#exchange({ upstream, body: bytes, response, plan }),
    );
  }

  /**
   * Carries a WebSocket connection to its upstream and back. Resolves when it is over, and when the
   * client has got the answer of an upstream that declined: then with a `failure`.
   *
   * Rejects when there was no answer: with `UpstreamUnreachableError` or `UpstreamTimeoutError` after
   * the client got 502 or 504, with `ClientGoneError` when the client left.
   */
  forwardUpgrade(upstream: UpstreamRequest, client: UpgradeClient): Promise<Forwarded> {
    return new UpgradeRelay(upstream, client, this.#options).run();
  }

  #exchange(call: ForwardCall): Promise<Forwarded> {
    return new Exchange(call, this.#options).run();
  }
}
