import type { RolloutState } from '../push/publication.ts';

/** How far several resources have come together: as far as the one that is last. */
export function combineRolloutStates(
  all: readonly (RolloutState | undefined)[],
): RolloutState | undefined {
  const rejected = all.find((state) => state?.kind === 'rejected');
  if (rejected !== undefined) return rejected;
  if (all.length === 0 || all.includes(undefined)) return undefined;
  return all.reduce((last, next) => (rank(next) > rank(last) ? next : last));
}

/** Higher is farther behind. */
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
