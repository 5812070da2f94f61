/**
 * The resources that one proxy serves in place of published ones: hashes by key; undefined if it serves
 * none under the key.
 */
export type Overlay = ReadonlyMap<string, string | undefined>;

/** The overlay of a proxy that rejects nothing. */
export const NO_OVERLAY: Overlay = new Map();

/** A snapshot as it was sent to one proxy. */
export interface SentSnapshot {
  readonly version: string;
  /** Version of the revision that it is based on; equal to `version` if the overlay is empty. */
  readonly revision: string;
  readonly overlay: Overlay;
}

/** A revision, sent without an overlay. */
export function sentAsIs(version: string): SentSnapshot {
  return { version, revision: version, overlay: NO_OVERLAY };
}
