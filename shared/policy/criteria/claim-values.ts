import { isRecord } from '../../runtime/is-record.ts';

/**
 * Returns the values of a claim as texts, whether the claim is one value or a list. Undefined if the claim
 * is absent, or has or lists anything but texts, booleans and numbers that JSON has exactly.
 *
 * A path follows own members only, not what every object or list inherits: `claim/constructor/name` and
 * `claim/roles/length` are absent.
 */
export function claimValues(
  claims: Readonly<Record<string, unknown>>,
  path: readonly string[],
): string | readonly string[] | undefined {
  let value: unknown = claims;
  for (const name of path) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  if (!Array.isArray(value)) return textOf(value);
  const texts: string[] = [];
  for (const item of value) {
    const text = textOf(item);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts;
}

/** Attack: beyond 2^53 integers are rounded, so that the numbers of two users are the same one. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return isRounded(value) ? undefined : String(value);
  return typeof value === 'boolean' ? String(value) : undefined;
}

function isRounded(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}
