import { beforeAll, describe, expect, test } from '@jest/globals';
import { jwtVerify } from 'jose';

import { RotatingKeySet } from '../../../../proxy/token-verification/rotating-key-set.ts';
import { issuerKey, signToken, TOKEN_TIME, type IssuerKey } from '../../../support/token-issuer.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

let first: IssuerKey;
let second: IssuerKey;

beforeAll(async () => {
  first = await issuerKey('first');
  second = await issuerKey('second');
});

/** A key set whose server has the keys in `published`, or is down while it is undefined. */
function setUp(...keys: readonly IssuerKey[]) {
  let now = TOKEN_TIME;
  let fetches = 0;
  const server: { published: readonly IssuerKey[] | undefined; hangs?: Promise<never> } = {
    published: keys,
  };
  const set = new RotatingKeySet({
    fetch: () => {
      fetches += 1;
      if (server.hangs !== undefined) return server.hangs;
      if (server.published === undefined) return Promise.reject(new Error('the server is down'));
      return Promise.resolve({ keys: server.published.map(({ publicJwk }) => publicJwk) });
    },
    now: () => now,
  });
  const verify = async (key: IssuerKey): Promise<string> => {
    try {
      await jwtVerify(await signToken(key), set.keyOf, { currentDate: new Date(TOKEN_TIME) });
      return 'verified';
    } catch (error) {
      return String(error);
    }
  };
  return {
    server,
    set,
    verify,
    fetches: () => fetches,
    advance: (ms: number) => void (now += ms),
    now: () => now,
  };
}

const UNKNOWN_KEY = expect.stringContaining('JWKSNoMatchingKey');
const DOWN = 'Error: the server is down';

describe('a key set', () => {
  test('is fetched once for any number of tokens at the same time, and after', async () => {
    const { verify, fetches } = setUp(first);

    expect(await Promise.all([verify(first), verify(first)])).toEqual(['verified', 'verified']);
    expect(await verify(first)).toBe('verified');
    expect(fetches()).toBe(1);
  });

  test('is fetched again at once when a token names a new key', async () => {
    const { server, verify, fetches } = setUp(first);
    await verify(first);
    server.published = [second];

    expect(await verify(second)).toBe('verified');
    expect(await verify(first)).toEqual(UNKNOWN_KEY);
    expect(fetches()).toBe(2);
  });

  test('is fetched once in 30 seconds for a flood of unknown keys', async () => {
    const { verify, fetches, advance } = setUp(first);
    await verify(first);
    const strangers = await Promise.all(['a', 'b', 'c', 'd'].map((id) => issuerKey(id)));

    expect(await Promise.all(strangers.map(verify))).toEqual(strangers.map(() => UNKNOWN_KEY));
    advance(30 * SECOND - 1);
    await verify(second);
    expect(fetches()).toBe(2);

    advance(1);
    await verify(second);
    expect(fetches()).toBe(3);
  });

  test('forgets a key that was withdrawn within 10 minutes', async () => {
    const { server, set, verify, advance, now } = setUp(first);
    await verify(first);
    server.published = [second];

    expect(set.countsUntil()).toBe(now() + 10 * MINUTE);
    advance(10 * MINUTE - 1);
    expect(await verify(first)).toBe('verified');
    advance(1);
    expect(await verify(first)).toEqual(UNKNOWN_KEY);
  });

  test('counts for an hour while its server is down', async () => {
    const { server, verify, advance } = setUp(first);
    await verify(first);
    server.published = undefined;

    advance(60 * MINUTE - 1);
    expect(await verify(first)).toBe('verified');
    advance(1);
    expect(await verify(first)).toBe(DOWN);
  });

  test('is not known to lack a key while its server is down', async () => {
    const { server, verify } = setUp(first);
    await verify(first);
    server.published = undefined;

    expect(await verify(second)).toBe(DOWN);
    expect(await verify(second)).toBe(DOWN);
    expect(await verify(first)).toBe('verified');
  });

  test('is fetched at most every 2 seconds while its server is down', async () => {
    const { server, verify, fetches, advance } = setUp(first);
    server.published = undefined;

    expect([await verify(first), await verify(first), await verify(second)]).toEqual([
      DOWN,
      DOWN,
      DOWN,
    ]);
    expect(fetches()).toBe(1);
    advance(2 * SECOND);
    server.published = [first];
    expect(await verify(first)).toBe('verified');
    expect(fetches()).toBe(2);
  });

  test('keeps nobody waiting for known keys while its server hangs', async () => {
    const { server, verify, fetches, advance } = setUp(first);
    await verify(first);
    advance(10 * MINUTE);
    const { promise: hangs, reject } = Promise.withResolvers<never>();
    server.hangs = hangs;
    const waiting = verify(first);
    reject(new Error('the server is down'));
    expect(await waiting).toBe('verified');

    server.hangs = Promise.withResolvers<never>().promise;
    advance(2 * SECOND);
    expect(await verify(first)).toBe('verified');
    expect(fetches()).toBe(3);
  });

  test('waits again for its server when the last failure is long ago', async () => {
    const { server, verify, advance } = setUp(first);
    await verify(first);
    server.published = undefined;
    expect(await verify(second)).toBe(DOWN);
    server.published = [second];
    advance(10 * MINUTE);

    expect(await verify(first)).toEqual(UNKNOWN_KEY);
  });

  test('lets a bounded number of unknown keys wait, and never known ones', async () => {
    const { server, set, verify } = setUp(first);
    await verify(first);
    const { promise: hangs, reject } = Promise.withResolvers<never>();
    server.hangs = hangs;
    const unknown = { alg: 'ES256', kid: 'unknown' };
    const waiting = Array.from({ length: 256 }, () =>
      Promise.resolve(set.keyOf(unknown, { payload: '', signature: '' })).catch(String),
    );

    expect(await verify(first)).toBe('verified');
    expect(await verify(second)).toBe('Error: too many tokens wait for the keys');
    reject(new Error('the server is down'));
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([DOWN]));
    expect(await verify(second)).toBe(DOWN);
  });

  test.each([null, [], {}, { keys: {} }, 'keys'])('is refused if it is %j', async (body) => {
    const set = new RotatingKeySet({ fetch: () => Promise.resolve(body), now: () => TOKEN_TIME });

    await expect(set.keyOf({ alg: 'ES256' }, { payload: '', signature: '' })).rejects.toThrow(
      'the response is not a JWK Set',
    );
  });
});
