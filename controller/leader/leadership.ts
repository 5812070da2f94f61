/** The time in which one controller leads. */
export interface Leadership {
  /** Higher than that of every leadership before it. */
  readonly epoch: number;
  /**
   * Whether it lasts, by the clock: ask before every act of a leader. A process that was stopped for
   * a while runs other callbacks before the timer that fires `signal`; this is not fooled by it.
   */
  readonly isCurrent: boolean;
  /** Aborted when it ends, at the latest when another controller may lead. */
  readonly signal: AbortSignal;
  /**
   * Makes the epoch higher than `epoch`, in the Lease first, and resolves with it: proxies hold a
   * snapshot that is not older than ours, so the Lease was deleted or forgot. Rejects when the
   * leadership is over, and when no Lease can hold such an epoch.
   */
  raiseEpochAbove(epoch: number): Promise<number>;
}

/** Takes part in the election, until it is closed. */
export interface Elector extends AsyncDisposable {
  /** `host:port` of the push listener of who leads, by its Lease; undefined when nobody does. */
  readonly leaderAddress: string | undefined;
  readonly isLeading: boolean;
}
