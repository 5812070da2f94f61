import { expect, test } from '@jest/globals';

import { makeRequestId } from '../../../../proxy/http/request-id.ts';

test('ids of requests are random UUIDs, and none comes twice', () => {
  const ids = Array.from({ length: 2_000 }, makeRequestId);
  for (const id of ids) {
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  }
  expect(new Set(ids).size).toBe(ids.length);
  for (const at of [0, 9, 15, 20, 35]) {
    expect(new Set(ids.map((id) => id[at])).size).toBe(16);
  }
});
