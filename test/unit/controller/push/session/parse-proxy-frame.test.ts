import { expect, test } from '@jest/globals';

import { parseProxyFrame } from '../../../../../controller/push/session/parse-proxy-frame.ts';
import { LONGEST_KEY_LENGTH } from '../../../../../shared/snapshot/push-frames.ts';

test('a proxy may reject a resource with the longest key, and none with a longer one', () => {
  const nack = (key: string): object => ({
    ...{ t: 'nack', epoch: 1, seq: 1, version: null },
    rejected: [{ key, reason: 'InvalidResource', message: 'no' }],
  });
  const longest = nack('k'.repeat(LONGEST_KEY_LENGTH));
  expect(parseProxyFrame(JSON.stringify(longest))).toEqual(longest);
  const longer = nack('k'.repeat(LONGEST_KEY_LENGTH + 1));
  expect(parseProxyFrame(JSON.stringify(longer))).toBeUndefined();
});
