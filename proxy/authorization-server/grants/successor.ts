import { hkdfSync } from 'node:crypto';

import { Sealer, type Sealed } from '../../crypto/sealer.ts';

const CONTEXT = 'refresh-token-successor';

const KEY_BYTES = 32;

/**
 * Seals the successor of a rotated token with a key that only the holder of the token has. A reader of the
 * store cannot use the sealed successor, which the store keeps for the grace period.
 */
export function sealSuccessor(successor: string, token: string): Sealed {
  return sealerOf(token).seal(successor, CONTEXT);
}

/** Returns the successor that was sealed for this token; null if it was sealed for another one. */
export function openSuccessor(sealed: string, token: string): string | null {
  return sealerOf(token).open(sealed, CONTEXT);
}

function sealerOf(token: string): Sealer {
  const secret = Buffer.from(hkdfSync('sha256', token, '', CONTEXT, KEY_BYTES));
  return new Sealer([{ secret }]);
}
