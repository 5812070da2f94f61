import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import type { Identity } from '../records/session.ts';
import { groupsInClaims, type SourceClaims } from './groups-in-claims.ts';

/**
 * Returns the identity of a user whose groups nobody was asked for: they are unknown if no source names them.
 *
 * Attack: a user takes the scope of the groups away, and would pass a policy that denies by group.
 */
export function withUnknownGroups(
  identity: Identity,
  sources: readonly SourceClaims[],
  { groupsClaim }: Pick<CompiledIdentityProvider, 'groupsClaim'>,
): Identity {
  const { kind } = groupsInClaims(sources, groupsClaim);
  return kind === 'absent' ? { ...identity, groupsAreUnknown: true } : identity;
}
