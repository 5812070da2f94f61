import type { Sealed } from '../../proxy/crypto/sealer.ts';
import { hashToken } from '../../proxy/crypto/tokens.ts';
import type { RefreshTokenReference } from '../../proxy/records/refresh-token-reference.ts';
import type { Rotation } from '../../proxy/store/refresh-token-store.ts';

const THIRTY_DAYS = 30 * 86_400;

export const GRACE_SECONDS = 60;
export const GRANT_ID = 'grant-1';

/** A token of a family, with the number of tokens before it. */
export function aToken(token: string, generation = 0, grantId = GRANT_ID): RefreshTokenReference {
  return { grantId, generation, hash: hashToken(token) };
}

/** The token of a generation in a family whose tokens are each rotated once. */
export function tokenOf(generation: number): RefreshTokenReference {
  return aToken(nameOf(generation), generation);
}

/** A rotation to the token of a generation in a family whose tokens are each rotated once. */
export function rotationToGeneration(generation: number): Rotation {
  return rotationTo(nameOf(generation));
}

/** A rotation to a successor, with a readable text in place of the sealed successor. */
export function rotationTo(successor: string, graceSeconds = GRACE_SECONDS): Rotation {
  // A brand, because real sealing gives a different text every time.
  const sealedSuccessor = `sealed ${successor}` as Sealed;
  const successorHash = hashToken(successor);
  return { successorHash, sealedSuccessor, graceSeconds, ttlSeconds: THIRTY_DAYS };
}

function nameOf(generation: number): string {
  return `token-${String(generation)}`;
}
