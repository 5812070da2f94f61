/** Names that are longer than any of ours are not repeated as a whole. */
const MAX_NAME_LENGTH = 100;

/** Path of a member, as problems spell it: `spec.timeouts`, `spec.policy.allow.or[0]`. */
export function memberPath(path: string, member: string | number): string {
  if (typeof member === 'number') return `${path}[${String(member)}]`;
  const name = member.length > MAX_NAME_LENGTH ? `${member.slice(0, MAX_NAME_LENGTH)}…` : member;
  return path === '' ? name : `${path}.${name}`;
}

/** Path of the place that a JSON pointer names: `/spec/policy/allow/or/0`, `spec.policy.allow.or[0]`. */
export function pathOfPointer(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => memberPath(path, /^\d+$/.test(part) ? Number(part) : part), '');
}
