/** The time in which one controller leads. */
export interface Leadership {
  /** Higher than the epoch of every leadership before it. */
  readonly epoch: number;
  /**
   * Whether the leadership lasts, by the clock. A leader checks it before every act: a process that was
   * suspended runs other callbacks before the timer that aborts `signal`.
   */
  readonly isCurrent: boolean;
  /** Aborted when the leadership ends, at the latest when another controller may lead. */
  readonly signal: AbortSignal;
  /**
   * Raises the epoch above `epoch`, in the Lease first, and resolves with it. Needed when proxies have
   * a snapshot that is newer than ours, because the Lease was deleted or restored. Rejects when the
   * leadership is over, and when no Lease can hold such an epoch.
   */
  raiseEpochAbove(epoch: number): Promise<number>;
}
