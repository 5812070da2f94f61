import { mergeChangeSets, NO_CHANGES } from '../compile/change-set.ts';
import type { Compilation } from '../compile/compilation.ts';

/** A compilation that changes nothing. */
export const NOTHING_COMPILED: Compilation = { ...NO_CHANGES, routes: new Map(), hosts: new Map() };

/** Returns the compilation that has the effect of `first` and then `second`. */
export function mergeCompilations(first: Compilation, second: Compilation): Compilation {
  const { settings = first.settings } = second;
  const { put, deleted } = mergeChangeSets(first, second);
  return {
    put,
    deleted,
    routes: new Map([...first.routes, ...second.routes]),
    hosts: new Map([...first.hosts, ...second.hosts]),
    ...(settings !== undefined && { settings }),
  };
}
