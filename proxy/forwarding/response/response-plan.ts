import type { GatewayError } from '../../errors/gateway-error.ts';
import type { UpstreamRequest } from '../request/upstream-request.ts';
import type { HeaderOverlay, RawFields } from './response-headers.ts';

/** The head of an upstream's final response, before any of it has reached the client. */
export interface UpstreamResponse {
  readonly status: number;
  readonly rawHeaders: RawFields;
  /**
   * Makes the plan to send the request again. Undefined if that is impossible: the client's body was
   * streamed to the upstream, or the request was already sent again.
   */
  readonly repeat: ((upstream: UpstreamRequest) => RepeatPlan) | undefined;
}

/**
 * Decides what happens with an upstream's response. While a promise is pending, nothing is sent to the
 * client and nothing more is read from the upstream. An error is answered like an error of any stage.
 */
export type ResponsePlanner = (response: UpstreamResponse) => ResponsePlan | Promise<ResponsePlan>;

/** The decision about an upstream's response. */
export type ResponsePlan = RelayPlan | RepeatPlan | AnswerPlan;

/** The client gets the upstream's response. */
export interface RelayPlan {
  readonly kind: 'relay';
  readonly headers: HeaderOverlay;
  /** Changes the body on its way. */
  readonly body?: BodyFilter | undefined;
}

/** The brand of plans to send a request again; see `repeatWith`. */
declare class Repeatable {
  private readonly isRepeatable: true;
}

/**
 * The request is sent again with the same body, and the client gets nothing of this response. The connection
 * to the upstream is closed. The next response is planned like this one.
 */
export interface RepeatPlan extends Repeatable {
  readonly kind: 'repeat';
  readonly upstream: UpstreamRequest;
}

/** The gateway answers in place of the upstream. The connection to the upstream is closed. */
export interface AnswerPlan {
  readonly kind: 'answer';
  readonly error: GatewayError;
}

/**
 * Changes the body of one response, chunk by chunk. The client gets no `Content-Length` then.
 *
 * A filter gets the bytes as the upstream encoded them. Therefore a plan checks `Content-Encoding` first,
 * and its overlay removes fields about the bytes, such as `ETag`. If a filter throws, the response is cut
 * off. Responses to HEAD, 204 and 304 have no body to filter.
 */
export interface BodyFilter {
  /**
   * Returns the bytes to send in place of a chunk; empty to send nothing yet. What it keeps of the chunk it
   * copies.
   */
  write(chunk: Buffer): Buffer;
  /** Returns the bytes to send at the end of the body. */
  end(): Buffer;
}

/** Makes the plan to send a request again. Only `Exchange` offers it, if the body is known. */
export function repeatWith(upstream: UpstreamRequest): RepeatPlan {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the one place that makes the brand
  return { kind: 'repeat', upstream } as RepeatPlan;
}
