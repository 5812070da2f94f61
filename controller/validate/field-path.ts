/** Path of a member, as problems spell it: `spec.timeouts`, `spec.policy.allow.or[0]`. */
export function memberPath(path: string, member: string | number): string {
  if (typeof member === 'number') return `${path}[${String(member)}]`;
  return path === '' ? member : `${path}.${member}`;
}
