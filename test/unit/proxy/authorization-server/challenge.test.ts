import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { challengeFor } from '../../../../proxy/authorization-server/challenge.ts';

const ORIGIN = 'https://mcp.example.com';

describe('challengeFor', () => {
  test.each([
    ['/', ''],
    ['//', ''],
    ['/mcp', '/mcp'],
    ['/mcp/', '/mcp'],
    ['/mcp///', '/mcp'],
    ['//mcp', '/mcp'],
    ['/a%2Fb', '/a%2Fb'],
    ["/(a)'b", "/(a)'b"],
    ['/mcp/../x', ''],
    ['/mcp/%2E.', ''],
    ['/"', ''],
    ['/\\', ''],
    ['/%zz', ''],
    ['/ä', ''],
  ])('names the metadata URL of path %p, which ends in %p', (path, inserted) => {
    const url = `${ORIGIN}/.well-known/oauth-protected-resource${inserted}`;
    expect(challengeFor(ORIGIN, path, false)).toBe(`Bearer resource_metadata="${url}"`);
  });

  test('has at most two well-quoted parameters, whatever the path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (path, tokenWasSent) => {
        expect(challengeFor(ORIGIN, `/${path}`, tokenWasSent)).toMatch(
          tokenWasSent
            ? /^Bearer error="invalid_token", resource_metadata="[\x21\x23-\x5b\x5d-\x7e]+"$/
            : /^Bearer resource_metadata="[\x21\x23-\x5b\x5d-\x7e]+"$/,
        );
      }),
    );
  });
});
