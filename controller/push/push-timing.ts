const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Times of the push server, in milliseconds. */
export interface PushTiming {
  /** A connection on which no proxy has proved who it is by then is closed. */
  readonly authenticationMs: number;
  readonly pingMs: number;
  /** A proxy that has answered none of so many pings when the next is due is gone. */
  readonly silentPings: number;
  /** A proxy that has not answered a snapshot by then is slow. */
  readonly slowMs: number;
  /** How long a proxy that is gone counts still. */
  readonly leaveMs: number;
  /** A stream ends at this age, give or take a tenth: the proxy comes back with a newer token. */
  readonly streamLifeMs: number;
  /** What a proxy refused as a whole is sent again after this time, and then ever more rarely. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** A resource that a proxy refused is sent to it again after this time, and then ever more rarely. */
  readonly refusalRetryMs: number;
  readonly longestRefusalRetryMs: number;
  /** How much time is between two raises of the epoch at least. */
  readonly raiseIntervalMs: number;
  /** How long a proxy may take to close what was ended with `goaway`. */
  readonly closeMs: number;
  /** How often the files of the certificate are read. */
  readonly certificatePollMs: number;
}

export const PUSH_TIMING: PushTiming = {
  authenticationMs: 10 * SECOND,
  pingMs: 5 * SECOND,
  silentPings: 2,
  slowMs: 10 * SECOND,
  leaveMs: 15 * SECOND,
  streamLifeMs: 30 * MINUTE,
  retryMs: SECOND,
  longestRetryMs: MINUTE,
  refusalRetryMs: SECOND,
  longestRefusalRetryMs: 10 * MINUTE,
  raiseIntervalMs: 5 * SECOND,
  closeMs: 2 * SECOND,
  certificatePollMs: 2 * SECOND,
};
