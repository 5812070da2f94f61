import type { Fold } from './string-test.ts';

/** Returns a function that does its work once for several calls with so many texts in turn. */
export function rememberSeveral(fold: Fold, capacity: number): Fold {
  const known = new Map<string, string>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const folded = fold(text);
    if (known.size === capacity) known.clear();
    known.set(text, folded);
    return folded;
  };
}
