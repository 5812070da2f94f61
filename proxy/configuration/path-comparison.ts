import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { loosePath } from '../../shared/paths/loose-path.ts';
import { makePathExpression } from '../../shared/paths/path-expression.ts';
import type { Automaton } from '../../shared/paths/regex/automaton.ts';
import type { Reading } from '../../shared/paths/regex/character-set.ts';
import { oncePerObject } from '../cache/once-per-object.ts';
import { withoutFinalSlash } from '../../shared/paths/without-final-slash.ts';

/** The path of a route, prepared for comparison. */
export type ComparablePath =
  | { readonly kind: 'exact' | 'prefix'; readonly key: string }
  | { readonly kind: 'regex'; readonly expression: Automaton };

/** How paths are compared. */
export interface PathComparison {
  /** Converts a path before it is tested by a regular expression, or made a key. */
  readonly textOf: (path: string) => string;
  /** Returns the key of a converted path; two paths with one key are the same. */
  readonly keyOf: (text: string) => string;
  /** Prepares the path of a route. Throws if its regular expression is invalid. */
  readonly pathOf: (route: CompiledRoute) => ComparablePath;
}

const asItIs = (text: string): string => text;

/** Compares byte for byte. */
export const EXACTLY: PathComparison = {
  textOf: asItIs,
  keyOf: asItIs,
  pathOf: pathReader(asItIs, 'exact'),
};

/** Compares as a server does that ignores case, encoding, path parameters and a final slash. */
export const LOOSELY: PathComparison = {
  textOf: loosePath,
  keyOf: withoutFinalSlash,
  pathOf: pathReader((value) => withoutFinalSlash(loosePath(value)), 'loose'),
};

function pathReader(
  keyOfValue: (value: string) => string,
  reading: Reading,
): PathComparison['pathOf'] {
  return oncePerObject(({ path: { kind, value } }) =>
    kind === 'regex'
      ? { kind, expression: expressionOf(value, reading) }
      : { kind, key: keyOfValue(value) },
  );
}

function expressionOf(source: string, reading: Reading): Automaton {
  const expression = makePathExpression(source, reading);
  if (expression.kind === 'invalid') {
    throw new Error(`the regular expression ${expression.problem}`);
  }
  return expression.automaton;
}
