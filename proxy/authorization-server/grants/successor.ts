import { hkdfSync } from 'node:crypto';

import { Sealer, type Sealed } from '../../crypto/sealer.ts';

const CONTEXT = 'refresh-token-successor';

const KEY_BYTES = 32;

/**
 * Seals a rotated token's successor under a key that only the holder of the token has: what the
 * store keeps for the grace is of no use to who reads the store.
 */
export function sealSuccessor(successor: string, token: string): Sealed {
  return sealerOf(token).seal(successor, CONTEXT);
}

/** The successor that was sealed for this token; null for another token. */
export function openSuccessor(sealed: string, token: string): string | null {
  return sealerOf(token).open(sealed, CONTEXT);
}

function sealerOf(token: string): Sealer {
  const secret = Buffer.from(hkdfSync('sha256', token, '', CONTEXT, KEY_BYTES));
  return new Sealer([{ secret }]);
}
