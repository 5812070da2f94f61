import type { Fold } from './string-test.ts';

/** Returns a function that does its work once for several calls with one text after another. */
export function rememberLast(fold: Fold): Fold {
  let last = '';
  let folded = fold(last);
  return (text) => {
    if (text !== last) [last, folded] = [text, fold(text)];
    return folded;
  };
}
