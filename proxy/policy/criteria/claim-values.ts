import { isRecord } from '../../../shared/runtime/is-record.ts';

const NONE: readonly string[] = [];

/**
 * Returns the values of a claim as texts, whether the claim is one value or a list. Empty if the claim is
 * absent or is an object.
 *
 * A path follows own members only, not what every object or list inherits: `claim/constructor/name` and
 * `claim/roles/length` are absent.
 */
export function claimValues(
  claims: Readonly<Record<string, unknown>>,
  path: readonly string[],
): readonly string[] {
  let value: unknown = claims;
  for (const name of path) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return NONE;
    value = value[name];
  }
  return Array.isArray(value) ? value.flatMap(textOf) : textOf(value);
}

function textOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  return NONE;
}
