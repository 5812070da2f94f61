/** The result of a forwarded request after its response had begun. */
export interface Forwarded {
  /** Status of the response that the client got. */
  readonly status: number;
  /** Length of the body that was written to the client, without its framing. */
  readonly bytes: number;
  /** When the request to the upstream began, by `performance.now()`. */
  readonly sentAt: number;
  /** From the request to the first byte of the upstream's final response, in milliseconds. */
  readonly firstByteMs: number;
  /** `scheme://host:port` that answered. */
  readonly upstream: string;
  readonly ended: ForwardedEnd;
  /** Why the client does not have the whole response; absent when it does. */
  readonly failure?: Error | undefined;
}

/** How a response ended. */
export type ForwardedEnd =
  /** The client has all of it. */
  | 'complete'
  /** The client left before the end. */
  | 'client-gone'
  /** It was broken off, because the upstream or the body filter failed. */
  | 'cut-off'
  /** The gateway ended an event stream after an event, because it is about to stop. */
  | 'ended-by-gateway';
