import { describe, expect, test } from '@jest/globals';

import { boundedFetch } from '../../../../../proxy/authorization-server/clients/bounded-fetch.ts';
import type { GuardedFetch } from '../../../../../proxy/outbound/guarded-fetch.ts';
import {
  OutboundFailedError,
  OutboundRefusedError,
} from '../../../../../proxy/outbound/outbound-errors.ts';

const OPTIONS = { accept: 'application/json', maxBytes: 1, timeoutMs: 1, allowedCidrs: [] };
const RESPONSE = { status: 404, headers: {}, body: Buffer.alloc(0) };

function urlOf(index: number): string {
  return `https://x${String(index)}.clients.example/`;
}

function setUp(answer: () => ReturnType<GuardedFetch>) {
  const clock = { now: 0 };
  const fetched: string[] = [];
  const guardedFetch: GuardedFetch = (url) => {
    fetched.push(url);
    return answer();
  };
  const fetch = boundedFetch(guardedFetch, () => clock.now);
  return { clock, fetched, get: (url: string) => fetch(url, OPTIONS) };
}

describe('documents of strangers', () => {
  test('are fetched sixteen at a time, and one more fails at once', async () => {
    const { promise, resolve } = Promise.withResolvers<typeof RESPONSE>();
    const { fetched, get } = setUp(() => promise);
    const running = Array.from({ length: 16 }, (_, index) => get(urlOf(index)));
    await expect(get(urlOf(16))).rejects.toMatchObject({ kind: 'aborted' });
    expect(fetched).toHaveLength(16);
    resolve(RESPONSE);
    await Promise.all(running);
    expect(await get(urlOf(16))).toBe(RESPONSE);
  });

  test.each([
    ['cannot be reached', new OutboundFailedError('connection', 'no')],
    ['have no address', new OutboundFailedError('dns', 'no')],
    ['do not come in time', new OutboundFailedError('timeout', 'no')],
    ['must not be fetched', new OutboundRefusedError('address', 'no')],
  ])('that %s are not fetched again for five seconds', async (_title, failure) => {
    const { clock, fetched, get } = setUp(() => Promise.reject(failure));
    await expect(get(urlOf(1))).rejects.toBe(failure);
    clock.now += 4999;
    await expect(get(urlOf(1))).rejects.toBe(failure);
    expect(fetched).toHaveLength(1);
    clock.now += 1;
    await expect(get(urlOf(1))).rejects.toBe(failure);
    expect(fetched).toHaveLength(2);
  });

  test('that are error responses are fetched again', async () => {
    const { fetched, get } = setUp(() => Promise.resolve(RESPONSE));
    await get(urlOf(1));
    await get(urlOf(1));
    expect(fetched).toHaveLength(2);
  });
});
