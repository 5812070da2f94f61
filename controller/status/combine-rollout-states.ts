import type { RolloutState } from '../push/publication.ts';

/** Combines the rollout states of several resources: the one that is farthest behind counts. */
export function combineRolloutStates(
  all: readonly (RolloutState | undefined)[],
): RolloutState | undefined {
  const rejected = all.find((state) => state?.kind === 'rejected');
  if (rejected !== undefined) return rejected;
  if (all.length === 0 || all.includes(undefined)) return undefined;
  return all.reduce((last, next) => (rank(next) > rank(last) ? next : last));
}

/** A higher rank is farther behind. */
function rank(rollout: RolloutState | undefined): number {
  switch (rollout?.kind) {
    case 'programmed':
      return 0;
    case 'pending':
      return 1 + rollout.proxies - rollout.acknowledged;
    case 'no-proxies':
    case 'rejected':
    case undefined:
      return Infinity;
  }
}
