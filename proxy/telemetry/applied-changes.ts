import { isPolicyKey } from '../../shared/snapshot/resource-key.ts';
import type { CompiledResource } from '../../shared/snapshot/snapshot.ts';
import type { ResourceChange } from '../configuration/snapshot-changes.ts';

/** The most resources that one record names. */
const MAX_NAMED = 50;

/** What a configuration changed, as the audit log has it. It names resources and never their content. */
export interface AppliedChanges {
  /** Version of the snapshot. */
  readonly version: string;
  /** Number of resources that were added, changed or removed. */
  readonly resources: number;
  /** Their number by kind. */
  readonly kinds: Readonly<Partial<Record<CompiledResource['kind'], number>>>;
  /** The first of them. */
  readonly changes: readonly { readonly key: string; readonly change: ChangeKind }[];
}

type ChangeKind = 'added' | 'changed' | 'removed';

/**
 * Returns what changed of policy and settings; undefined if nothing did. Targets of Services are left out: they are
 * not policy, and change all the time.
 */
export function appliedChanges(
  version: string,
  all: readonly ResourceChange[],
): AppliedChanges | undefined {
  const kinds: Partial<Record<CompiledResource['kind'], number>> = {};
  const changes: AppliedChanges['changes'][number][] = [];
  let resources = 0;
  for (const { before, after } of all) {
    const resource = after ?? before;
    if (resource === undefined || !isPolicyKey(resource.key)) continue;
    resources += 1;
    const { kind } = resource.value;
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    if (changes.length === MAX_NAMED) continue;
    const change = after === undefined ? 'removed' : before === undefined ? 'added' : 'changed';
    changes.push({ key: resource.key, change });
  }
  return resources === 0 ? undefined : { version, resources, kinds, changes };
}
