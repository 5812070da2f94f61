import { describe, expect, test } from '@jest/globals';

import { DocumentCache, type LoadedDocument } from '../../../../proxy/outbound/document-cache.ts';

const URL = 'https://client.example/';

class Outage extends Error {}

function setUp({ maxEntries = 10 } = {}) {
  let now = 0;
  const loads: string[] = [];
  const cache = new DocumentCache<string>({
    maxEntries,
    maxStaleSeconds: 1000,
    isOutage: (error) => error instanceof Outage,
    now: () => now,
  });
  const loading = (value: string, freshSeconds = 100) => {
    return (): Promise<LoadedDocument<string>> => {
      loads.push(value);
      return Promise.resolve({ value, freshSeconds });
    };
  };
  const failing = (error: Error) => () => Promise.reject(error);
  const advance = (seconds: number): void => {
    now += seconds * 1000;
  };
  return { cache, loads, loading, failing, advance };
}

describe('DocumentCache', () => {
  test('returns a fresh document from memory', async () => {
    const { cache, loading, loads, advance } = setUp();
    await cache.get(URL, loading('first'));
    advance(99);
    expect(await cache.get(URL, loading('second'))).toBe('first');
    expect(loads).toEqual(['first']);
  });

  test('loads a stale document again', async () => {
    const { cache, loading, advance } = setUp();
    await cache.get(URL, loading('first'));
    advance(100);
    expect(await cache.get(URL, loading('second'))).toBe('second');
  });

  test('loads a fresh document again for a caller that wants a newer one', async () => {
    const { cache, loading, advance } = setUp();
    await cache.get(URL, loading('first'));
    advance(60);
    expect(await cache.get(URL, loading('second'), { maxAgeSeconds: 61 })).toBe('first');
    expect(await cache.get(URL, loading('second'), { maxAgeSeconds: 60 })).toBe('second');
  });

  test('does not cache a document that must not be cached', async () => {
    const { cache, loading } = setUp();
    await cache.get(URL, loading('first', 0));
    expect(await cache.get(URL, loading('second'))).toBe('second');
  });

  test('drops a document when its server forbids caching', async () => {
    const { cache, loading, failing, advance } = setUp();
    await cache.get(URL, loading('first'));
    advance(100);
    await cache.get(URL, loading('second', 0));
    await expect(cache.get(URL, failing(new Outage('down')))).rejects.toThrow('down');
  });

  test('loads once for concurrent callers', async () => {
    const { cache, loading, loads } = setUp();
    const values = await Promise.all([
      cache.get(URL, loading('first')),
      cache.get(URL, loading('second')),
      cache.get(URL, loading('third')),
    ]);
    expect(values).toEqual(['first', 'first', 'first']);
    expect(loads).toEqual(['first']);
  });

  test('never caches a failure', async () => {
    const { cache, loading, failing } = setUp();
    await expect(cache.get(URL, failing(new Error('malformed')))).rejects.toThrow('malformed');
    expect(await cache.get(URL, loading('good'))).toBe('good');
  });

  test('forgets a document when its server responds with something else', async () => {
    const { cache, loading, failing, advance } = setUp();
    await cache.get(URL, loading('first'));
    advance(100);
    await expect(cache.get(URL, failing(new Error('gone')))).rejects.toThrow('gone');
    await expect(cache.get(URL, failing(new Outage('down')))).rejects.toThrow('down');
  });

  test('returns the last good document during an outage, and tries again a minute later', async () => {
    const { cache, loading, failing, loads, advance } = setUp();
    await cache.get(URL, loading('first'));
    advance(100);
    expect(await cache.get(URL, failing(new Outage('down')))).toBe('first');
    advance(59);
    expect(await cache.get(URL, loading('second'))).toBe('first');
    advance(1);
    expect(await cache.get(URL, loading('second'))).toBe('second');
    expect(loads).toEqual(['first', 'second']);
  });

  test('stops returning the last good document when the outage lasts', async () => {
    const { cache, loading, failing, advance } = setUp();
    await cache.get(URL, loading('first'));
    advance(1000);
    await expect(cache.get(URL, failing(new Outage('down')))).rejects.toThrow('down');
  });

  test('forgets the least recently used document when it is full', async () => {
    const { cache, loading, loads } = setUp({ maxEntries: 2 });
    await cache.get('a', loading('a'));
    await cache.get('b', loading('b'));
    await cache.get('a', loading('a again'));
    await cache.get('c', loading('c'));
    expect(await cache.get('a', loading('a once more'))).toBe('a');
    expect(await cache.get('b', loading('b again'))).toBe('b again');
    expect(loads).toEqual(['a', 'b', 'c', 'b again']);
  });

  // Attack: a stranger who has used up a limit asks in a loop, and all others share the refusal.
  test('refuses only the caller that may not load', async () => {
    const { cache, loading, loads } = setUp();
    const refused = cache.get(URL, loading('never'), {
      beforeLoad: () => Promise.reject(new Error('too many requests')),
    });
    const permitted = cache.get(URL, loading('first'));
    await expect(refused).rejects.toThrow('too many requests');
    expect(await permitted).toBe('first');
    expect(loads).toEqual(['first']);
  });

  test('returns the last good document to a caller that may not load', async () => {
    const { cache, loading, advance } = setUp();
    await cache.get(URL, loading('first'));
    advance(100);
    const beforeLoad = (): Promise<void> => Promise.reject(new Outage());
    expect(await cache.get(URL, loading('second'), { beforeLoad })).toBe('first');
  });

  test('asks no caller that shares the load of another', async () => {
    const { cache, loading } = setUp();
    const first = cache.get(URL, loading('first'));
    const beforeLoad = (): Promise<void> => Promise.reject(new Error('asked'));
    expect(await cache.get(URL, loading('second'), { beforeLoad })).toBe('first');
    await first;
  });
});
