import { findUnmeant } from '../../shared/runtime/forbidden-character.ts';

/**
 * Returns what is wrong with the text of a secret; undefined if nothing is. It does not repeat the text.
 *
 * A secret from a file in another encoding is as wrong as a name: the provider would refuse it, without a
 * hint why.
 */
export function secretFault(text: string): string | undefined {
  if (text === '') return 'is empty';
  const found = findUnmeant(text);
  return found === undefined ? undefined : `has the character ${found.name}, which no secret has`;
}
