import type { Span } from '../../../shared/telemetry/tracing/trace.ts';
import type { GatewayRequest } from '../../http/gateway-request.ts';
import type { TargetChoice } from '../targets/target.ts';

/** The brand of upstream requests; see `Permit`. */
declare class Permitted {
  private readonly isPermitted: true;
}

/**
 * A permitted request as the upstream gets it: complete, except for the framing of the message. It is made
 * from a permit only. The brand is private, so neither another object nor a changed copy is an
 * `UpstreamRequest`.
 */
export interface UpstreamRequest extends Permitted {
  /** The client's request. */
  readonly request: GatewayRequest;
  /** `scheme://host[:port]`; `Host` is made from it. */
  readonly origin: string;
  /** The targets that may get the request; undefined if `origin` itself gets it. */
  readonly choice: TargetChoice | undefined;
  /** Raw path and query, byte for byte. */
  readonly path: string;
  /** Flat list of names and values, as `upstreamHeaders` returns it. */
  readonly headers: readonly string[];
  /** Lower-case names of the response's fields that the route lets through. */
  readonly passResponseHeaders?: readonly string[] | undefined;
  readonly body: UpstreamBody;
  /** How long the response may take to begin; 0 is no limit. */
  readonly responseTimeoutMs: number;
  /** Absent if the request is not traced, or its trace is not sampled. Whoever made the request ends it. */
  readonly span?: Span | undefined;
}

/** Bytes that were read already, or the stream that the client still sends. */
export type UpstreamBody = Buffer | 'stream' | 'none';

/** Returns the `Host` of a request to `scheme://host[:port]`. */
export function hostOf(origin: string): string {
  return origin.slice(origin.indexOf('://') + '://'.length);
}
