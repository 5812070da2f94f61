/** A value that occurred in a run, and must not be readable in certain places. */
export interface Secret {
  /** Its kind, e.g. `cookie __Host-session`. */
  readonly kind: string;
  readonly value: string;
  /** Whether logs may contain it, like the caller and the address of the client. */
  readonly isLoggable?: true;
  /** Whether it is the value of any parameter of a query, which only spans and metrics must not have. */
  readonly isQuery?: true;
}

/**
 * Shorter values are left out: tests use short ones (`x`, `alice`), which occur in random text by
 * chance. E-mail addresses are longer, and are also searched for by a pattern.
 */
export const SHORTEST_SECRET = 8;

/** Kind of a secret that is put into every Redis, to prove that the search finds it. */
export const CANARY = 'canary';

/** Kind of an address of a client. */
export const CLIENT_ADDRESS = 'client address';
