import type { RefreshTokenReference, Rotation } from '../../proxy/store/refresh-token-store.ts';

const THIRTY_DAYS = 30 * 86_400;

export const GRACE_SECONDS = 60;
export const GRANT_ID = 'grant-1';

/** A token of a family, after so many others. */
export function aToken(hash: string, generation = 0, grantId = GRANT_ID): RefreshTokenReference {
  return { grantId, generation, hash };
}

/** The token that each generation of a family has, when every one is rotated once. */
export function tokenOf(generation: number): RefreshTokenReference {
  return aToken(`token-${String(generation)}`, generation);
}

export function rotationTo(successorHash: string, graceSeconds = GRACE_SECONDS): Rotation {
  const sealedSuccessor = `sealed ${successorHash}`;
  return { successorHash, sealedSuccessor, graceSeconds, ttlSeconds: THIRTY_DAYS };
}
