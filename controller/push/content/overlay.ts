/**
 * What one proxy has in place of what is published: hashes of what it serves instead, by key;
 * undefined: nothing.
 */
export type Overlay = ReadonlyMap<string, string | undefined>;

export const NO_OVERLAY: Overlay = new Map();

/** A snapshot as one proxy was sent it. */
export interface SentSnapshot {
  readonly version: string;
  /** Version of the revision that it was made of: the same where there is nothing in the overlay. */
  readonly revision: string;
  readonly overlay: Overlay;
}

/** A revision as it is. */
export function sentAsIs(version: string): SentSnapshot {
  return { version, revision: version, overlay: NO_OVERLAY };
}
