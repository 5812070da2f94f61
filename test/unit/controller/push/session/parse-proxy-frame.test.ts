import { describe, expect, test } from '@jest/globals';

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

describe('reports about upstreams in a status', () => {
  const status = (upstreamAuth: unknown): string =>
    JSON.stringify({ t: 'status', ready: true, draining: false, conns: 1, upstreamAuth });

  test('are parsed; an earlier proxy sends none', () => {
    const reports = [
      { route: 'team/a', ageMs: 5 },
      { route: 'team/b', ageMs: 0, failure: { reason: 'upstream-auth-no-pkce', message: 'no' } },
    ];
    expect(parseProxyFrame(status(reports))).toMatchObject({ upstreamAuth: reports });
    expect(parseProxyFrame(status(undefined))).toMatchObject({ ready: true, upstreamAuth: [] });
  });

  test('have short messages without control characters, which terminals would act on', () => {
    const message = `\u001b[2J${'x'.repeat(2000)}`;
    const frame = parseProxyFrame(
      status([{ route: 'a/b', ageMs: 1, failure: { reason: 'x', message } }]),
    );
    expect(frame).toMatchObject({
      upstreamAuth: [{ failure: { message: ` [2J${'x'.repeat(996)}` } }],
    });
  });

  test.each([
    ['no list', {}],
    ['too many', Array.from({ length: 101 }, () => ({ route: 'a/b', ageMs: 1 }))],
    ['a route that is no text', [{ route: 1, ageMs: 1 }]],
    ['a route that is too long', [{ route: 'k'.repeat(LONGEST_KEY_LENGTH + 1), ageMs: 1 }]],
    ['a negative age', [{ route: 'a/b', ageMs: -1 }]],
    ['a failure without a message', [{ route: 'a/b', ageMs: 1, failure: { reason: 'x' } }]],
    [
      'a reason in other letters',
      [{ route: 'a/b', ageMs: 1, failure: { reason: 'A B', message: '' } }],
    ],
  ])('are not accepted with %s', (_what, upstreamAuth) => {
    expect(parseProxyFrame(status(upstreamAuth))).toBeUndefined();
  });
});
