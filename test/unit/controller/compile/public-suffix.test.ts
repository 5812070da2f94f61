import { describe, expect, test } from '@jest/globals';

import { isPublicSuffix } from '../../../../controller/compile/public-suffix.ts';

describe('a domain', () => {
  test.each(['com', 'co.uk', 'uk', 'github.io', 'ck', 'compute.amazonaws.com', 'xn--p1ai'])(
    '%s is one that anybody may register names under',
    (domain) => {
      expect(isPublicSuffix(domain)).toBe(true);
    },
  );

  test.each(['example.com', 'a.co.uk', 'me.github.io', 'internal', 'lan', 'localhost', 'x.corp'])(
    '%s is not one that anybody may register names under',
    (domain) => {
      expect(isPublicSuffix(domain)).toBe(false);
    },
  );
});
