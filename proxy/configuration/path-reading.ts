import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { loosePath } from '../http/loose-path.ts';
import { oncePerObject } from './once-per-object.ts';

/** The path of a route, ready to be compared. */
export type ReadPath =
  | { readonly kind: 'exact' | 'prefix'; readonly key: string }
  | { readonly kind: 'regex'; readonly expression: RegExp };

/** How paths are compared. */
export interface Reading {
  /** What paths and the values of routes become before they are compared. */
  readonly key: (path: string) => string;
  /** What a path becomes before it meets a regular expression, which says itself where it ends. */
  readonly text: (path: string) => string;
  /** Reads the path of a route. Throws when its regular expression is none. */
  readonly pathOf: (route: CompiledRoute) => ReadPath;
}

const asItIs = (path: string): string => path;
const withoutSlashAtEnd = (path: string): string => loosePath(path).replace(/\/$/, '');

/** Byte for byte. */
export const EXACTLY: Reading = { key: asItIs, text: asItIs, pathOf: pathReader(asItIs, 'u') };

/** As a server does that ignores case, encoding, path parameters and a slash at the end. */
export const LOOSELY: Reading = {
  key: withoutSlashAtEnd,
  text: loosePath,
  pathOf: pathReader(withoutSlashAtEnd, 'iu'),
};

function pathReader(key: Reading['key'], flags: string): Reading['pathOf'] {
  return oncePerObject(({ path: { kind, value } }) =>
    kind === 'regex'
      ? { kind, expression: new RegExp(`^(?:${value})$`, flags) }
      : { kind, key: key(value) },
  );
}
