/** One address of an upstream Service. */
export interface Target {
  /** `http://host:port`. */
  readonly origin: string;
  /** A number that depends on the address only, so that it is the same on every proxy. */
  readonly rank: number;
}

/** Targets that a request may be sent to. */
export interface TargetChoice {
  /** At least one. */
  readonly targets: readonly Target[];
  /**
   * Rank of the caller, if all requests of one caller must reach one target: through every proxy, and
   * for as long as the targets stay the same.
   */
  readonly callerRank: number | undefined;
}
