import { nearestName } from './nearest-name.ts';

/** Nobody means a known name with a longer one. */
const MAX_NAME_LENGTH = 64;

/**
 * The known name that a mistyped one most likely means, as the end of a message:
 * `; did you mean "from"?`. Empty when none is close.
 */
export function didYouMean(name: string, known: readonly string[]): string {
  if (name.length > MAX_NAME_LENGTH) return '';
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}
