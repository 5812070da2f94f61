const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Times of the push server, in milliseconds. */
export interface PushTiming {
  /** A connection without an authenticated proxy is closed after this time. */
  readonly authenticationMs: number;
  readonly pingMs: number;
  /** A proxy with this many unanswered pings is disconnected when the next is due. */
  readonly silentPings: number;
  /** A proxy that has not answered a snapshot after this time is slow. */
  readonly slowMs: number;
  /** How long a proxy that disconnected still counts. */
  readonly leaveMs: number;
  /** A stream ends at this age, give or take a tenth, so that the proxy returns with a newer token. */
  readonly streamLifeMs: number;
  /** A snapshot that was rejected as a whole is sent again after this time, doubled every time. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** A rejected resource is sent again after this time, doubled every time. */
  readonly rejectionRetryMs: number;
  readonly longestRejectionRetryMs: number;
  /** The shortest time between two raises of the epoch. */
  readonly raiseIntervalMs: number;
  /** How long a proxy may take to close a stream after `goaway`. */
  readonly closeMs: number;
  /** The shortest time between two changes of what is known of a route's upstream. */
  readonly upstreamAuthMs: number;
  /** How often the certificate files are read. */
  readonly certificatePollMs: number;
}

/** The times of a push server in production. */
export const PUSH_TIMING: PushTiming = {
  authenticationMs: 10 * SECOND,
  pingMs: 5 * SECOND,
  silentPings: 2,
  slowMs: 10 * SECOND,
  leaveMs: 15 * SECOND,
  streamLifeMs: 30 * MINUTE,
  retryMs: SECOND,
  longestRetryMs: MINUTE,
  rejectionRetryMs: SECOND,
  longestRejectionRetryMs: 10 * MINUTE,
  raiseIntervalMs: 5 * SECOND,
  closeMs: 2 * SECOND,
  upstreamAuthMs: MINUTE,
  certificatePollMs: 2 * SECOND,
};
