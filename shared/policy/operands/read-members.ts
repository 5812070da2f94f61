import type { Report } from '../language/criterion-definition.ts';

/**
 * Reads the members of an operand that is an object: none is unknown, and there is at least one. Null after a
 * report.
 */
export function readMembers(
  value: unknown,
  known: readonly string[],
  report: Report,
): Readonly<Record<string, unknown>> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return report(`must be an object of ${known.join(', ')}`);
  }
  const members: Readonly<Record<string, unknown>> = { ...value };
  const names = Object.keys(members);
  if (names.length === 0) return report(`must not be empty; can have ${known.join(', ')}`);
  const unknown = names.find((name) => !known.includes(name));
  return unknown === undefined ? members : report('is not a known member', [unknown], known);
}
