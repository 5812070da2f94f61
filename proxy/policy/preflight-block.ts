import type { Criterion, PolicyBlock } from '../../shared/policy/policy.ts';

/**
 * Returns the part of an `allow` block by which it can allow a preflight without a user: its groups that
 * hold because `cors_preflight` is true. Undefined if there is none.
 *
 * Attack: `accept` beside it in an `or` means every user, and must not admit anybody without one.
 */
export function preflightBlock({ and = [], or = [] }: PolicyBlock): PolicyBlock | undefined {
  const all = and.some(isPreflight) ? and : [];
  const any = or.filter(isPreflight);
  if (all.length + any.length === 0) return undefined;
  return { ...(all.length > 0 && { and: all }), ...(any.length > 0 && { or: any }) };
}

function isPreflight({ kind }: Criterion): boolean {
  return kind === 'cors_preflight';
}
