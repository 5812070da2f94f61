import { nearestName } from './nearest-name.ts';

/** A longer name is not a typo of a known one. */
const MAX_NAME_LENGTH = 64;

/**
 * The known name that a typo most likely means, as the end of a message: `; did you mean "from"?`.
 * Empty if no name is close.
 */
export function didYouMean(name: string, known: readonly string[]): string {
  if (name.length > MAX_NAME_LENGTH) return '';
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}
