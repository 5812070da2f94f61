import { isRecord } from '../../runtime/is-record.ts';

/**
 * Returns the values of a claim as texts, whether the claim is one value or a list. Undefined if the claim
 * is absent, or has or lists anything but texts, numbers and booleans.
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

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
