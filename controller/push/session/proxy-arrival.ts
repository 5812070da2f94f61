import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import { sentAsIs, type SentSnapshot } from '../content/overlay.ts';
import type { RevisionHistory } from '../content/revision-history.ts';
import type { ProxyHello } from './proxy-hello.ts';

/**
 * The snapshot that a proxy serves when it connects:
 *
 * - `nothing`: none
 * - `revision`: one that this leadership published
 * - `own`: a variant of a revision that this leadership sent to this proxy
 * - `borrowed`: a variant of a revision that this leadership sent to another proxy
 * - `foreign`: one that this leadership neither published nor sent
 */
export type ProxyArrival =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'revision' | 'own' | 'borrowed' | 'foreign';
      readonly position: SnapshotPosition;
      readonly base: SentSnapshot;
    };

/** Classifies the snapshot that a proxy serves. `sent`: snapshots that it was sent and may serve. */
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
