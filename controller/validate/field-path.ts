/** Names that are longer than any of ours are not repeated as a whole. */
const MAX_NAME_LENGTH = 100;

/** Path of a member, as problems spell it: `spec.timeouts`, `spec.policy.allow.or[0]`. */
export function memberPath(path: string, member: string | number): string {
  if (typeof member === 'number') return `${path}[${String(member)}]`;
  const name = member.length > MAX_NAME_LENGTH ? `${member.slice(0, MAX_NAME_LENGTH)}…` : member;
  return path === '' ? name : `${path}.${name}`;
}
