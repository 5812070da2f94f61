import { findUnmeant } from '../../shared/runtime/forbidden-character.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';
import { MAX_PROBLEMS, type SchemaProblem } from './check-schema.ts';
import { membersOf } from './described-value.ts';
import { memberPath } from './field-path.ts';

const MAX_DEPTH = 30;

/** A value in a manifest. Its path is made only if it has a problem, since values may nest deeply. */
interface Part {
  readonly name: string | number;
  readonly value: unknown;
  readonly parent: Part | undefined;
}

/**
 * Returns problems of the texts and names in the `spec` of a manifest that hold a character which no
 * value can mean.
 *
 * Attack: `is: Gesch\uFFFDftsf\uFFFDhrung`, from a file in another encoding, or `is: "admins\0"` names
 * nobody, so a deny by it opens without a word.
 */
export function characterProblems(manifest: unknown): readonly SchemaProblem[] {
  const spec = isRecord(manifest) ? manifest['spec'] : undefined;
  const pending: Part[] = [{ name: 'spec', value: spec, parent: undefined }];
  const problems: SchemaProblem[] = [];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (problems.length >= MAX_PROBLEMS) break;
    const parent = part;
    const message = messageOf(part.value) ?? messageOf(part.name);
    if (message !== undefined) problems.push({ path: pathOf(part), message });
    for (const [name, value] of membersOf(part.value)) pending.push({ name, value, parent });
  }
  return problems;
}

function messageOf(value: unknown): string | undefined {
  const found = isText(value) ? findUnmeant(value) : undefined;
  if (found === undefined) return undefined;
  const { offset, name } = found;
  const isReplacement = name === 'U+FFFD';
  const why = isReplacement
    ? 'a trace of a wrong encoding; save it as UTF-8'
    : 'which is not allowed';
  return `has ${name} as character ${String(offset + 1)}, ${why}`;
}

/** The outer members are enough to find a value that nests deeper than any of ours. */
function pathOf(part: Part): string {
  const names: Part['name'][] = [];
  for (let one: Part | undefined = part; one !== undefined; one = one.parent) names.push(one.name);
  return names
    .reverse()
    .slice(0, MAX_DEPTH)
    .reduce<string>((path, name) => memberPath(path, isText(name) ? visible(name) : name), '');
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** A problem is printed on terminals, which act on control characters. */
function visible(name: string): string {
  return findUnmeant(name) === undefined ? name : JSON.stringify(name).slice(1, -1);
}
