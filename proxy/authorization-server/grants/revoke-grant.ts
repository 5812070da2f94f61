import type { Stores } from '../../store/stores.ts';

/**
 * Ends a grant and every token that stands on it. Final: a grant of this id that another request is
 * about to make is dead as well.
 */
export async function revokeGrant(
  { grants, refreshTokens, revocations }: Pick<Stores, 'grants' | 'refreshTokens' | 'revocations'>,
  grantId: string,
): Promise<void> {
  await Promise.all([grants.revoke(grantId), refreshTokens.revokeFamily(grantId)]);
  await revocations.publish({ kind: 'grant', grantId });
}
