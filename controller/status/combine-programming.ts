import type { Programming } from '../push/publication.ts';

/** How far several resources have come together: as far as the one that is last. */
export function combineProgramming(
  all: readonly (Programming | undefined)[],
): Programming | undefined {
  const rejected = all.find((programming) => programming?.kind === 'rejected');
  if (rejected !== undefined) return rejected;
  if (all.length === 0 || all.includes(undefined)) return undefined;
  return all.reduce((last, next) => (rank(next) > rank(last) ? next : last));
}

/** Higher is farther behind. */
function rank(programming: Programming | undefined): number {
  switch (programming?.kind) {
    case 'programmed':
      return 0;
    case 'pending':
      return 1 + programming.proxies - programming.acknowledged;
    case 'no-proxies':
    case 'rejected':
    case undefined:
      return Infinity;
  }
}
