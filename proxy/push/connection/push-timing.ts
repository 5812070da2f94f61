const SECOND = 1000;

/** Times of the push client, in milliseconds. */
export interface PushClientTiming {
  /** How long a controller may take to answer the hello. */
  readonly helloMs: number;
  /** How long one may take to connect before another connection is tried beside it. */
  readonly hedgeMs: number;
  /** How often the controller is asked whether it is there. */
  readonly pingMs: number;
  /** A controller of which nothing was heard for so long is gone. */
  readonly silenceMs: number;
  /** How often the proxy says how it is. */
  readonly statusMs: number;
  /** A stream that stood for so long was a good one: the next attempt comes soon. */
  readonly steadyMs: number;
  /** How long a proxy leaves its place, at least, to another one that has the same id. */
  readonly displacedMs: number;
}

/** A leader that hangs is given up before another one can lead, 15 s after it renewed its Lease. */
export const PUSH_CLIENT_TIMING: PushClientTiming = {
  helloMs: 3 * SECOND,
  hedgeMs: SECOND / 2,
  pingMs: 3 * SECOND,
  silenceMs: 10 * SECOND,
  statusMs: 10 * SECOND,
  steadyMs: 10 * SECOND,
  displacedMs: 10 * SECOND,
};
