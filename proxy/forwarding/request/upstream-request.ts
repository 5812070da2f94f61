import type { GatewayRequest } from '../../http/gateway-request.ts';
import type { TargetChoice } from '../targets/target.ts';

/** What is sent to the upstream: complete, save what frames the message on the wire. */
export interface UpstreamRequest {
  /** `scheme://host[:port]`; `Host` is made from it. */
  readonly origin: string;
  /** Where it goes in the place of `origin`, whose `Host` it has all the same. */
  readonly choice?: TargetChoice | undefined;
  /** Raw path and query, byte for byte. */
  readonly path: string;
  /** Flat list of names and values, as `upstreamHeaders` makes it. */
  readonly headers: readonly string[];
  /** Bytes that were read already, or what the client still sends. */
  readonly body: Buffer | 'stream' | 'none';
  /** How long the response may take to begin; 0 is no limit. */
  readonly responseTimeoutMs: number;
}

/** Method and message of the request that is forwarded. */
export type ForwardedRequest = Pick<GatewayRequest, 'method' | 'message'>;

/** The `Host` of a request to `scheme://host[:port]`. */
export function hostOf(origin: string): string {
  return origin.slice(origin.indexOf('://') + '://'.length);
}
