import type { Dispatcher } from 'undici';

import { ClientGoneError } from '../errors/request-errors.ts';
import { asError } from '../forwarding/as-error.ts';
import { connectEndpoint } from '../forwarding/targets/connect-target.ts';
import type { TargetLoads } from '../forwarding/targets/target-loads.ts';
import { TargetVisit } from '../forwarding/targets/target-visit.ts';
import type { OpenStreams } from '../forwarding/response/open-streams.ts';
import { RequestBody } from '../forwarding/request/request-body.ts';
import {
  ResponseRelay,
  type Exchange,
  type Outcome,
} from '../forwarding/response/response-relay.ts';
import { announcesTrailers, TrailerRequest } from '../forwarding/request/trailer-request.ts';
import { UpgradeRelay, type UpgradeExchange } from '../forwarding/websocket/upgrade-relay.ts';
import type { UpstreamPools } from '../forwarding/targets/upstream-pools.ts';
import { hostOf, type UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import { hasBody } from '../http/has-body.ts';
import { readBody } from '../http/read-body.ts';
import { askForBody } from '../http/expect-continue.ts';
import type { Permit } from './permit.ts';

/** Sends permitted requests to their upstreams, and the responses back. */
export interface Forwarder {
  /**
   * Resolves when the client has the whole response. Rejects with `UpstreamUnreachableError` or
   * `UpstreamTimeoutError`, and with `ClientGoneError` when the client left. When the response had
   * begun by then, it is cut off already.
   */
  forward(permit: Permit, upstream: UpstreamRequest, exchange: Exchange): Promise<void>;

  /**
   * Carries a WebSocket connection to its upstream and back, until it is over.
   *
   * Rejects when it never came about: with `UpstreamUnreachableError` or `UpstreamTimeoutError` after
   * the client got 502, 504 or what the upstream answered instead, with `ClientGoneError` when the
   * client left.
   */
  forwardUpgrade(
    permit: Permit,
    upstream: UpstreamRequest,
    exchange: UpgradeExchange,
  ): Promise<void>;
}

/** What the requests of a process share on their way to the upstreams. */
export interface Forwarding {
  readonly pools: UpstreamPools;
  readonly loads: TargetLoads;
  readonly streams: OpenStreams;
}

/** A forwarder on these connections. */
export function createForwarder(forwarding: Forwarding): Forwarder {
  return {
    forward: (_permit, upstream, exchange) =>
      new Promise((done, failed) => send(upstream, exchange, { done, failed }, forwarding)),
    forwardUpgrade: (_permit, upstream, exchange) =>
      new UpgradeRelay(upstream, exchange, forwarding).run(),
  };
}

/** Bodies up to this length are gathered first: cheaper than a stream, and the request repeatable. */
const SMALL_BODY_BYTES = 64 * 1024;

function send(
  upstream: UpstreamRequest,
  exchange: Exchange,
  outcome: Outcome,
  forwarding: Forwarding,
): void {
  const { request, response } = exchange;
  const { message } = request;
  if (response.destroyed) {
    outcome.failed(new ClientGoneError('the client left before its request was forwarded'));
    return;
  }
  if (upstream.body !== 'stream' || !hasBody(message)) {
    sendWhole(upstream, exchange, outcome, forwarding);
    return;
  }
  if (Number(message.headers['content-length'] ?? Infinity) > SMALL_BODY_BYTES) {
    askForBody(message);
    sendStream(upstream, exchange, outcome, forwarding);
    return;
  }
  readBody(message, SMALL_BODY_BYTES)
    .then((body) => send({ ...upstream, body }, exchange, outcome, forwarding))
    .catch(outcome.failed);
}

/** Methods whose requests may be repeated (RFC 9110, section 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT']);

/** Sends a request whose body is at hand, or that has none. */
function sendWhole(
  upstream: UpstreamRequest,
  exchange: Exchange,
  outcome: Outcome,
  forwarding: Forwarding,
): void {
  const { method } = exchange.request;
  const options: Dispatcher.DispatchOptions = {
    path: upstream.path,
    method,
    headers: headersOf(upstream),
    body: upstream.body instanceof Buffer ? upstream.body : null,
    headersTimeout: upstream.responseTimeoutMs,
  };
  dispatch(options, { upstream, exchange, outcome, mayRepeat: IDEMPOTENT.has(method) }, forwarding);
}

/** Sends a request whose body the client is still sending. It cannot be repeated once it was sent. */
function sendStream(
  upstream: UpstreamRequest,
  exchange: Exchange,
  outcome: Outcome,
  forwarding: Forwarding,
): void {
  const { method, message } = exchange.request;
  if (announcesTrailers(message)) {
    sendWithTrailers(upstream, exchange, outcome, forwarding);
    return;
  }
  const length = message.headers['content-length'];
  const options: Dispatcher.DispatchOptions = {
    path: upstream.path,
    method,
    headers: [...headersOf(upstream), ...(length === undefined ? [] : ['Content-Length', length])],
    body: new RequestBody(message),
    headersTimeout: upstream.responseTimeoutMs,
  };
  dispatch(options, { upstream, exchange, outcome, mayRepeat: false }, forwarding);
}

interface Dispatched {
  readonly upstream: UpstreamRequest;
  readonly exchange: Exchange;
  readonly outcome: Outcome;
  /** Also when an upstream may have seen the request. */
  readonly mayRepeat: boolean;
}

/** Hands a request to the pool of its origin, or of an endpoint. */
function dispatch(
  options: Dispatcher.DispatchOptions,
  { upstream, exchange, outcome, mayRepeat }: Dispatched,
  { pools, loads, streams }: Forwarding,
): void {
  const visit = visitOf(upstream, loads);
  const attempt = (): void => pools.dispatch(visit?.origin ?? upstream.origin, options, relay);
  const repeats = {
    again: mayRepeat ? attempt : undefined,
    elsewhere: visit && (() => visit.moveOn(attempt)),
  };
  const relay = new ResponseRelay(exchange, endOf(visit, outcome), { repeats, streams });
  attempt();
}

/** Connects first: what the client sends is read once only. */
function sendWithTrailers(
  upstream: UpstreamRequest,
  exchange: Exchange,
  outcome: Outcome,
  { loads, streams }: Forwarding,
): void {
  const { request } = exchange;
  const visit = visitOf(upstream, loads);
  const relay = new ResponseRelay(exchange, endOf(visit, outcome), { repeats: {}, streams });
  if (visit === undefined) {
    new TrailerRequest(upstream, request, relay).send();
    return;
  }
  connectEndpoint(visit)
    .then((socket) => new TrailerRequest(upstream, request, relay, socket).send())
    .catch((error: unknown) => relay.onResponseError(undefined, asError(error)));
}

function visitOf({ choice }: UpstreamRequest, loads: TargetLoads): TargetVisit | undefined {
  return choice && new TargetVisit(choice, loads);
}

/** An outcome that ends a visit too. */
function endOf(visit: TargetVisit | undefined, { done, failed }: Outcome): Outcome {
  if (visit === undefined) return { done, failed };
  return {
    done: () => {
      visit.leave();
      done();
    },
    failed: (error) => {
      visit.leave();
      failed(error);
    },
  };
}

function headersOf({ origin, choice, headers }: UpstreamRequest): string[] {
  // An endpoint is addressed by its Service's name, not by its own.
  return choice === undefined ? [...headers] : [...headers, 'Host', hostOf(origin)];
}
