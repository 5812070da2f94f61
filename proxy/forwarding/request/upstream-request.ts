import type { GatewayRequest } from '../../http/gateway-request.ts';
import type { TargetChoice } from '../targets/target.ts';

/** The brand of upstream requests; see `Permit`. */
declare class Permitted {
  private readonly isPermitted: true;
}

/**
 * A permitted request as the upstream gets it: complete, except for what frames the message on the
 * wire. Only a permit produces one. Its brand is private, so that no other object is an
 * `UpstreamRequest`, nor a changed copy of one.
 */
export interface UpstreamRequest extends Permitted {
  /** The client's request that is carried on. */
  readonly request: GatewayRequest;
  /** `scheme://host[:port]`; `Host` is made from it. */
  readonly origin: string;
  /** The targets that may get the request; undefined where `origin` itself does. */
  readonly choice: TargetChoice | undefined;
  /** Raw path and query, byte for byte. */
  readonly path: string;
  /** Flat list of names and values, as `upstreamHeaders` returns it. */
  readonly headers: readonly string[];
  readonly body: UpstreamBody;
  /** How long the response may take to begin; 0 is no limit. */
  readonly responseTimeoutMs: number;
}

/** Bytes that were read already, or what the client still sends. */
export type UpstreamBody = Buffer | 'stream' | 'none';

/** The `Host` of a request to `scheme://host[:port]`. */
export function hostOf(origin: string): string {
  return origin.slice(origin.indexOf('://') + '://'.length);
}
