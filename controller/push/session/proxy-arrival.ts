import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import { sentAsIs, type SentSnapshot } from '../content/overlay.ts';
import type { ProxyHello } from './proxy-hello.ts';
import type { RevisionHistory } from '../content/revision-history.ts';

/**
 * What a proxy comes with:
 *
 * - `nothing`
 * - `revision`: one of ours as it is
 * - `own`: what it was sent in place of one
 * - `borrowed`: what another proxy was sent in place of one
 * - `foreign`: what this leadership did not publish
 */
export type Arrival =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'revision' | 'own' | 'borrowed' | 'foreign';
      readonly position: SnapshotPosition;
      readonly base: SentSnapshot;
    };

/** Finds that out. `sent` is what it may serve of what it was sent. */
export function arrivalOf(
  have: ProxyHello['have'],
  sent: readonly SentSnapshot[],
  history: RevisionHistory,
): Arrival {
  if (have === undefined) return { kind: 'nothing' };
  const { position, version } = have;
  const asIs = { position, base: sentAsIs(version) };
  const provenance = history.provenanceOf(position, version);
  if (provenance !== 'variant') return { kind: provenance, ...asIs };
  const own = sent.find((each) => each.version === version);
  return own === undefined ? { kind: 'borrowed', ...asIs } : { kind: 'own', position, base: own };
}
