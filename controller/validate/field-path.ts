/** Names that are longer than any of ours are cut. */
const MAX_NAME_LENGTH = 100;

/** The path of a member in problems: `spec.timeouts`, `spec.policy.allow.or[0]`. */
export function memberPath(path: string, member: string | number): string {
  if (typeof member === 'number') return `${path}[${String(member)}]`;
  const name = member.length > MAX_NAME_LENGTH ? `${member.slice(0, MAX_NAME_LENGTH)}…` : member;
  return path === '' ? name : `${path}.${name}`;
}

/** Converts a JSON pointer: `/spec/policy/allow/or/0` to `spec.policy.allow.or[0]`. */
export function pathOfPointer(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => memberPath(path, /^\d+$/.test(part) ? Number(part) : part), '');
}
