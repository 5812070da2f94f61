/** Times of the election, in milliseconds unless named otherwise. */
export interface ElectionTiming {
  /** How long a Lease lasts without being renewed. */
  readonly leaseDurationMs: number;
  /** How long a leader leads without renewing its Lease. Shorter, so that it resigns first. */
  readonly renewDeadlineMs: number;
  /** How often a leader renews its Lease, and candidates read it. */
  readonly retryPeriodMs: number;
  /** The period of a candidate is longer by a random share of up to this much. */
  readonly jitter: number;
}

/**
 * The times of Kubernetes' own controllers, with less jitter: a candidate replaces a leader that was
 * killed 15 s after it last saw a renewal, and reads the Lease at least every 2.4 s.
 */
export const DEFAULT_TIMING: ElectionTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2000,
  jitter: 0.2,
};
