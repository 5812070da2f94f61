/** Something that came up in a run and must not be readable where it was not meant to be. */
export interface Secret {
  /** What it is, e.g. `cookie __Host-session`. */
  readonly kind: string;
  readonly value: string;
  /** Logs may say it: who the caller is, and the address of the client. */
  readonly isLoggable?: true;
}

/**
 * Shorter values are left out: tests make up short ones (`x`, `alice`), and so few characters turn
 * up in random text by chance. E-mail addresses are longer, and are looked for by pattern too.
 */
export const SHORTEST_SECRET = 8;

/** Kind of a secret that is put into every Redis to be found: whoever finds it has looked. */
export const CANARY = 'canary';
