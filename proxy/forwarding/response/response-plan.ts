import type { GatewayError } from '../../errors/gateway-error.ts';
import type { UpstreamRequest } from '../request/upstream-request.ts';
import type { HeaderOverlay, RawFields } from './response-headers.ts';

/** The head of an upstream's final answer, before any of it has reached the client. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly rawHeaders: RawFields;
  /**
   * Makes the plan to send the request again. Undefined where that cannot be: the client's body was
   * passed on as a stream, so that it is gone, or the request was sent again before.
   */
  readonly repeat: ((upstream: UpstreamRequest) => RepeatPlan) | undefined;
}

/**
 * Decides what happens with an upstream's answer. While a promise is pending, nothing is sent to the
 * client and nothing more is read from the upstream. A plan that fails is answered like any failed
 * stage.
 */
export type PlanResponse = (answer: UpstreamAnswer) => ResponsePlan | Promise<ResponsePlan>;

/** The decision about an upstream's answer. */
export type ResponsePlan = RelayPlan | RepeatPlan | AnswerPlan;

/** The client gets the upstream's answer. */
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
 * The request is sent again, with the body of the first; the client gets nothing of this answer. The
 * upstream's connection is given up with it. The next answer is planned like this one.
 */
export interface RepeatPlan extends Repeatable {
  readonly kind: 'repeat';
  readonly upstream: UpstreamRequest;
}

/** The gateway answers in place of the upstream. The upstream's connection is given up. */
export interface AnswerPlan {
  readonly kind: 'answer';
  readonly error: GatewayError;
}

/**
 * Changes the body of one response, chunk by chunk. The client gets no `Content-Length` then.
 *
 * A filter gets the bytes that the upstream sends: a plan looks at the `Content-Encoding` first, and
 * removes fields about the bytes, such as `ETag`, by its overlay. One that throws cuts the response
 * off. The bodies of HEAD, 204 and 304 are not filtered.
 */
export interface BodyFilter {
  /** Returns the bytes to send in place of a chunk; empty to send nothing yet. */
  write(chunk: Buffer): Buffer;
  /** Returns the bytes to send at the end of the body. */
  end(): Buffer;
}

/** The plan to send a request again. Forwarding alone offers it, where the body is at hand. */
export function repeatWith(upstream: UpstreamRequest): RepeatPlan {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the one place that makes the brand
  return { kind: 'repeat', upstream } as RepeatPlan;
}
