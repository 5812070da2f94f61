import { HOP_BY_HOP_FIELDS } from '../../shared/snapshot/header-fields.ts';

/** Returns whether intermediaries drop a field of this lower-case name. */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP_FIELDS.has(name);
}

/** Returns the fields that a `Connection` value lists, in lower case; undefined if it lists none. */
export function listedInConnection(value: string | undefined): ReadonlySet<string> | undefined {
  if (value === undefined || /^(?:keep-alive|close)$/i.test(value)) return undefined;
  return new Set(value.split(',').map((option) => option.trim().toLowerCase()));
}
