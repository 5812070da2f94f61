import type { Dispatcher } from 'undici';

import { ClientGoneError } from '../errors/request-errors.ts';
import { RequestBody } from '../forwarding/request-body.ts';
import { ResponseRelay, type Exchange, type Outcome } from '../forwarding/response-relay.ts';
import { announcesTrailers, TrailerRequest } from '../forwarding/trailer-request.ts';
import type { UpstreamPools } from '../forwarding/upstream-pools.ts';
import type { UpstreamRequest } from '../forwarding/upstream-request.ts';
import { hasBody } from '../http/has-body.ts';
import { readBody } from '../http/read-body.ts';
import { sendContinue } from '../server/send-continue.ts';
import type { Permit } from './permit.ts';

/** Sends permitted requests to their upstreams, and the responses back. */
export interface Forwarder {
  /**
   * Resolves when the client has the whole response. Rejects with `UpstreamUnreachableError` or
   * `UpstreamTimeoutError`, and with `ClientGoneError` when the client left. When the response had
   * begun by then, it is cut off already.
   */
  forward(permit: Permit, upstream: UpstreamRequest, exchange: Exchange): Promise<void>;
}

/** A forwarder on these connections. */
export function createForwarder(pools: UpstreamPools): Forwarder {
  return {
    forward: (_permit, upstream, exchange) =>
      new Promise((done, failed) => send(upstream, exchange, { done, failed }, pools)),
  };
}

/** Bodies up to this length are gathered first: cheaper than a stream, and the request repeatable. */
const SMALL_BODY_BYTES = 64 * 1024;

function send(
  upstream: UpstreamRequest,
  exchange: Exchange,
  outcome: Outcome,
  pools: UpstreamPools,
): void {
  const { request, response } = exchange;
  const { message } = request;
  if (response.destroyed) {
    outcome.failed(new ClientGoneError('the client left before its request was forwarded'));
    return;
  }
  if (upstream.body !== 'stream' || !hasBody(message)) {
    sendWhole(upstream, exchange, outcome, pools);
    return;
  }
  sendContinue(message, response);
  if (Number(message.headers['content-length'] ?? Infinity) > SMALL_BODY_BYTES) {
    sendStream(upstream, exchange, outcome, pools);
    return;
  }
  readBody(message, SMALL_BODY_BYTES).then(
    (body) => send({ ...upstream, body }, exchange, outcome, pools),
    outcome.failed,
  );
}

/** Methods whose requests may be repeated (RFC 9110, section 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT']);

/** Sends a request whose body is at hand, or that has none. */
function sendWhole(
  upstream: UpstreamRequest,
  exchange: Exchange,
  outcome: Outcome,
  pools: UpstreamPools,
): void {
  const { method } = exchange.request;
  const options: Dispatcher.DispatchOptions = {
    path: upstream.path,
    method,
    headers: [...upstream.headers],
    body: upstream.body instanceof Buffer ? upstream.body : null,
    headersTimeout: upstream.responseTimeoutMs,
  };
  const dispatch = (): void => pools.dispatch(upstream.origin, options, relay);
  const relay = new ResponseRelay(exchange, outcome, IDEMPOTENT.has(method) ? dispatch : undefined);
  dispatch();
}

/** Sends a request whose body the client is still sending. It cannot be repeated. */
function sendStream(
  upstream: UpstreamRequest,
  exchange: Exchange,
  outcome: Outcome,
  pools: UpstreamPools,
): void {
  const { request } = exchange;
  const { method, message } = request;
  const relay = new ResponseRelay(exchange, outcome, undefined);
  if (announcesTrailers(message)) {
    new TrailerRequest(upstream, request, relay).send();
    return;
  }
  const length = message.headers['content-length'];
  const options: Dispatcher.DispatchOptions = {
    path: upstream.path,
    method,
    headers: [...upstream.headers, ...(length === undefined ? [] : ['Content-Length', length])],
    body: new RequestBody(message),
    headersTimeout: upstream.responseTimeoutMs,
  };
  pools.dispatch(upstream.origin, options, relay);
}
