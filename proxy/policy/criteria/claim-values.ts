import { isRecord } from '../../../shared/runtime/is-record.ts';

const NONE: readonly string[] = [];

/**
 * The values of a claim as text: one, those of a list, or none when it is absent or has no text.
 *
 * A path goes through members that the claims themselves have, never through what every object or
 * list has: `claim/constructor/name` and `claim/roles/length` are absent.
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
