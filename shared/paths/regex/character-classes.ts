import { ALPHABET_SIZE, hasCode, type CharacterSet } from './character-set.ts';

/** Classes of characters that no part of an expression distinguishes. */
export interface CharacterClasses {
  readonly count: number;
  /** The class of each character, by its code. */
  readonly ofCode: Uint8Array;
  /** The code of one character of each class. */
  readonly samples: readonly number[];
}

/** Divides the alphabet so that each set is a union of classes. */
export function characterClasses(sets: Iterable<CharacterSet>): CharacterClasses {
  const distinct = [...new Set(sets)];
  const ofCode = new Uint8Array(ALPHABET_SIZE);
  const byMembership = new Map<string, number>();
  const samples: number[] = [];
  for (let code = 0; code < ALPHABET_SIZE; code += 1) {
    const membership = distinct.map((set) => (hasCode(set, code) ? '1' : '0')).join('');
    const known = byMembership.get(membership);
    ofCode[code] = known ?? samples.length;
    if (known !== undefined) continue;
    byMembership.set(membership, samples.length);
    samples.push(code);
  }
  return { count: samples.length, ofCode, samples };
}
