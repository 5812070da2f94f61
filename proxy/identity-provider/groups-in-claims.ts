import { isRecord } from '../../shared/runtime/is-record.ts';
import { member } from '../json/json-object.ts';

/** Claims of one source: the identity token or userinfo. */
export type SourceClaims = Readonly<Record<string, unknown>>;

/** What the sources say about a user's groups. */
export type GroupsInClaims =
  | { readonly kind: 'groups'; readonly groups: readonly string[] }
  | { readonly kind: 'absent' }
  /** The provider refers to the groups instead of sending them. */
  | { readonly kind: 'left-out' }
  /** The claim is not a list of names. */
  | { readonly kind: 'unreadable' };

/** Where groups are if the settings do not say it. */
export const DEFAULT_GROUPS_PATH: readonly string[] = ['groups'];

/** Members that refer to claims at another place (OpenID Connect Core, section 5.6.2). */
const CLAIM_NAMES = '_claim_names';

/**
 * Reads a user's groups from the claim at a path. The first source that has it counts.
 *
 * Attack: a user in so many groups that the provider leaves them out would pass every policy that denies
 * by group. So groups that were left out or are of another shape are not the same as no groups.
 */
export function groupsInClaims(
  sources: readonly SourceClaims[],
  path: readonly string[] = DEFAULT_GROUPS_PATH,
): GroupsInClaims {
  if (sources.some((source) => refersToGroups(source, path))) return { kind: 'left-out' };
  const value = sources.map((source) => valueAt(source, path)).find((each) => each !== undefined);
  if (value === undefined) return { kind: 'absent' };
  if (value === '') return { kind: 'groups', groups: [] };
  if (typeof value === 'string' && !isListInText(value)) return { kind: 'groups', groups: [value] };
  return isListOfNames(value) ? { kind: 'groups', groups: value } : { kind: 'unreadable' };
}

/**
 * Returns whether a provider refers to another claim instead of sending it. References to `groups` do not
 * count if the settings read groups from another claim.
 */
export function refersToOtherClaims(
  sources: readonly SourceClaims[],
  [groups = '']: readonly string[] = DEFAULT_GROUPS_PATH,
): boolean {
  const known = new Set([...sources.flatMap((source) => Object.keys(source)), groups, 'groups']);
  return sources.some((source) => {
    const names = member(source, CLAIM_NAMES);
    if (names === undefined) return false;
    return !isRecord(names) || Object.keys(names).some((name) => !known.has(name));
  });
}

function refersToGroups(source: SourceClaims, [claim = '']: readonly string[]): boolean {
  const names = member(source, CLAIM_NAMES);
  if (isRecord(names) && Object.hasOwn(names, claim)) return true;
  return claim === 'groups' && hasSignOfEntra(source);
}

/** Microsoft Entra's signs of groups that were left out: `hasgroups`, and `groups:src1` in implicit flows. */
function hasSignOfEntra(source: SourceClaims): boolean {
  const { hasgroups = false } = source;
  if (hasgroups !== false) return true;
  return Object.keys(source).some((name) => name.startsWith('groups:src'));
}

/** Undefined if it is absent; null, which is of no usable shape, if it would be inside a plain value. */
function valueAt(source: SourceClaims, path: readonly string[]): unknown {
  let value: unknown = source;
  for (const name of path) {
    if (value === undefined) return undefined;
    if (!isRecord(value)) return null;
    value = member(value, name);
  }
  return value;
}

function isListOfNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '');
}

/**
 * Returns whether a text is a list or an object. Attack: taken for the name of one group, it would pass
 * every policy that denies by one of the groups in it.
 */
function isListInText(text: string): boolean {
  const trimmed = text.trim();
  return ['[]', '{}'].some(([open = '', close = '']) => {
    return trimmed.startsWith(open) && trimmed.endsWith(close);
  });
}
