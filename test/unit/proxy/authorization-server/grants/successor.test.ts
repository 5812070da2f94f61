import { expect } from '@jest/globals';

import { randomToken } from '../../../../../proxy/crypto/tokens.ts';
import {
  openSuccessor,
  sealSuccessor,
} from '../../../../../proxy/authorization-server/grants/successor.ts';
import { verifies } from '../../../../requirements/verifies.ts';

verifies(
  ['as.refresh-grace', 'as.secrets-unreadable'],
  'Only the token that was rotated opens its successor',
  () => {
    const [token, successor] = [randomToken('gtr_'), randomToken('gtr_')];
    const sealed = sealSuccessor(successor, token);
    expect(openSuccessor(sealed, token)).toBe(successor);
    expect(openSuccessor(sealed, randomToken('gtr_'))).toBeNull();
    expect(openSuccessor(sealed, successor)).toBeNull();
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain(successor);
  },
);
