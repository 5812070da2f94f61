import type { RouteVerdict, Served } from '../compile/compilation.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';
import type { RouteStatus } from '../kubernetes/stored-resources.ts';
import type { VerdictSummary } from './verdict-states.ts';

type StoredLastGood = NonNullable<RouteStatus['served']>;

/**
 * Returns the older generation that is served while the newest is not accepted, stored so that the next
 * leader can serve it; undefined if there is none.
 */
export function lastGoodOf({
  generation,
  isAccepted,
  served,
}: VerdictSummary): StoredLastGood | undefined {
  if (isAccepted || served === undefined || served.generation === generation) return undefined;
  return storable(served);
}

/** Returns the last good generation of a Route that waits for the settings; it is not served yet. */
export function waitingOf({ waiting: kept }: RouteVerdict): StoredLastGood | undefined {
  return kept?.served && storable(kept.served);
}

/** An accepted spec is always a record. */
function storable({
  generation,
  spec,
}: Pick<Served, 'generation' | 'spec'>): StoredLastGood | undefined {
  return isRecord(spec) ? { generation, spec } : undefined;
}
