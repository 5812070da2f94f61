/** How a Lease is held and sought. */
export interface ElectionTiming {
  /** How long a Lease holds without being renewed. */
  readonly leaseDurationMs: number;
  /** How long a leader leads without having renewed it. Shorter, so that it ends first. */
  readonly renewDeadlineMs: number;
  /** How often a leader renews it, and others look. */
  readonly retryPeriodMs: number;
  /** Others wait up to this part of the period longer, each another time. */
  readonly jitter: number;
}

/**
 * What Kubernetes' own controllers use, but for less jitter: a leader that was killed is replaced
 * 15 s after another one last saw it renew, and that one looks every 2.4 s at the latest.
 */
export const DEFAULT_TIMING: ElectionTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2000,
  jitter: 0.2,
};
