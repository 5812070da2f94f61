/** One place where a Service is served. */
export interface Target {
  /** `http://host:port`. */
  readonly origin: string;
  /** A number that follows from the address, the same on every proxy. */
  readonly rank: number;
}

/** Endpoints that a request may go to. */
export interface TargetChoice {
  /** All alike; at least one. */
  readonly targets: readonly Target[];
  /**
   * Rank of who makes the request, where all requests of one caller are to reach one endpoint:
   * through every proxy, and for as long as the endpoints stay what they are.
   */
  readonly callerRank: number | undefined;
}
