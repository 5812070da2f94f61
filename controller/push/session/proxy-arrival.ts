import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import { sentAsIs, type SentSnapshot } from '../content/overlay.ts';
import type { RevisionHistory } from '../content/revision-history.ts';
import type { ProxyHello } from './proxy-hello.ts';

/**
 * What a proxy serves when it connects:
 *
 * - `nothing`: no snapshot
 * - `revision`: a snapshot as this leadership published it
 * - `own`: what this leadership sent this proxy in place of a revision
 * - `borrowed`: what this leadership sent another proxy in place of a revision
 * - `foreign`: a snapshot that this leadership did not publish
 */
export type ProxyArrival =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'revision' | 'own' | 'borrowed' | 'foreign';
      readonly position: SnapshotPosition;
      readonly base: SentSnapshot;
    };

/** Classifies what a proxy serves. `sent` is what it was sent and may serve. */
export function arrivalOf(
  have: ProxyHello['have'],
  sent: readonly SentSnapshot[],
  history: RevisionHistory,
): ProxyArrival {
  if (have === undefined) return { kind: 'nothing' };
  const { position, version } = have;
  const asIs = { position, base: sentAsIs(version) };
  const provenance = history.provenanceOf(position, version);
  if (provenance !== 'variant') return { kind: provenance, ...asIs };
  const own = sent.find((each) => each.version === version);
  return own === undefined ? { kind: 'borrowed', ...asIs } : { kind: 'own', position, base: own };
}
