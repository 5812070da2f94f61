const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** How long a reflector waits, in milliseconds. */
export interface ReflectorTimes {
  /**
   * The silence after which a watch is reopened, because its connection may be dead. API servers send
   * a bookmark every minute, so a working watch is silent for longer only before its first event.
   */
  readonly inactivityMs: number;
  /** The time between two full lists, which correct a watch that lost events. */
  readonly relistMs: number;
  /** The time until a type that is not installed is listed again. */
  readonly notInstalledMs: number;
  /** The period in which at most two requests are sent. */
  readonly paceMs: number;
  readonly shortestBackoffMs: number;
  /** Short enough that a reflector recovers within half a minute after the API server. */
  readonly longestBackoffMs: number;
}

/** The times of reflectors in production. */
export const REFLECTOR_TIMES: ReflectorTimes = {
  inactivityMs: 75 * SECOND,
  relistMs: 10 * MINUTE,
  notInstalledMs: MINUTE,
  paceMs: SECOND,
  shortestBackoffMs: 200,
  longestBackoffMs: 20 * SECOND,
};
