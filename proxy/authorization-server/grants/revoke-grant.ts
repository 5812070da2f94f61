import type { Stores } from '../../store/stores.ts';

/**
 * Ends a grant and every token issued from it. This is final: a concurrent request cannot create the grant
 * afterwards.
 */
export async function revokeGrant(
  { grants, refreshTokens, revocations }: Pick<Stores, 'grants' | 'refreshTokens' | 'revocations'>,
  grantId: string,
): Promise<void> {
  await Promise.all([grants.revoke(grantId), refreshTokens.revokeFamily(grantId)]);
  await revocations.publish({ kind: 'grant', grantId });
}
