import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { loosePath } from '../../shared/paths/loose-path.ts';
import { oncePerObject } from '../cache/once-per-object.ts';

/** The path of a route, prepared for comparison. */
export type ComparablePath =
  | { readonly kind: 'exact' | 'prefix'; readonly key: string }
  | { readonly kind: 'regex'; readonly expression: RegExp };

/** How paths are compared. */
export interface PathComparison {
  /** Converts a path, or the value of a route, before they are compared. */
  readonly key: (path: string) => string;
  /** Converts a path before it is tested by a regular expression. */
  readonly text: (path: string) => string;
  /** Prepares the path of a route. Throws if its regular expression is invalid. */
  readonly pathOf: (route: CompiledRoute) => ComparablePath;
}

const asItIs = (path: string): string => path;
const withoutSlashAtEnd = (path: string): string => loosePath(path).replace(/\/$/, '');

/** Compares byte for byte. */
export const EXACTLY: PathComparison = {
  key: asItIs,
  text: asItIs,
  pathOf: pathReader(asItIs, 'u'),
};

/** Compares as a server does that ignores case, encoding, path parameters and a final slash. */
export const LOOSELY: PathComparison = {
  key: withoutSlashAtEnd,
  text: loosePath,
  pathOf: pathReader(withoutSlashAtEnd, 'iu'),
};

function pathReader(key: PathComparison['key'], flags: string): PathComparison['pathOf'] {
  return oncePerObject(({ path: { kind, value } }) =>
    kind === 'regex'
      ? { kind, expression: new RegExp(`^(?:${value})$`, flags) }
      : { kind, key: key(value) },
  );
}
