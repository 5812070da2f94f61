import type { UserReference } from '../../records/user-key.ts';
import type { Stores } from '../../store/stores.ts';
import { revokeGrant } from './revoke-grant.ts';

/**
 * Puts a grant on the list of its user, before it exists: one that is on no list could not be revoked by the
 * user. Revokes those for which the list has no room.
 */
export async function listGrant(
  user: UserReference,
  grantId: string,
  stores: Pick<Stores, 'grantsOfUsers' | 'grants' | 'refreshTokens' | 'revocations'>,
  ttlSeconds: number,
): Promise<void> {
  const dropped = await stores.grantsOfUsers.keep(user, { id: grantId }, ttlSeconds);
  await Promise.all(dropped.map(({ id }) => revokeGrant(stores, id)));
}
