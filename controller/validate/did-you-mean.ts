import { nearestName } from './nearest-name.ts';

/**
 * The known name that a mistyped one most likely means, as the end of a message:
 * `; did you mean "from"?`. Empty when none is close.
 */
export function didYouMean(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}
