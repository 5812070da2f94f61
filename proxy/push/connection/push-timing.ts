const SECOND = 1000;

/** Times of the push client, in milliseconds. */
export interface PushClientTiming {
  /** How long a controller may take to answer the hello. */
  readonly helloMs: number;
  /** How long a connection may take before a second one is tried beside it. */
  readonly hedgeMs: number;
  /** How often the controller is pinged. */
  readonly pingMs: number;
  /** Silence after which a controller counts as gone. */
  readonly silenceMs: number;
  /** How often the proxy reports its status. */
  readonly statusMs: number;
  /** If a stream was open for at least this long, the next attempt follows soon. */
  readonly steadyMs: number;
  /** How long a proxy waits, at least, after another proxy with the same id replaced it. */
  readonly displacedMs: number;
}

/**
 * A proxy gives up a leader that hangs before another controller can lead: `silenceMs` plus `pingMs`
 * is shorter than the duration of a Lease. A test compares it with the controller's election timing.
 */
export const PUSH_CLIENT_TIMING: PushClientTiming = {
  helloMs: 3 * SECOND,
  hedgeMs: SECOND / 2,
  pingMs: 3 * SECOND,
  silenceMs: 10 * SECOND,
  statusMs: 10 * SECOND,
  steadyMs: 10 * SECOND,
  displacedMs: 10 * SECOND,
};
