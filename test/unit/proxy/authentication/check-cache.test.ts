import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { CheckCache } from '../../../../proxy/authentication/check-cache.ts';
import { MemoryRevocations } from '../../../../proxy/store/memory/memory-revocations.ts';
import { StoreUnavailableError } from '../../../../proxy/store/store-unavailable-error.ts';

const START = 1_000_000;
const FRESH = 5000;
const RETRY = 1000;

interface Value {
  readonly sessionId: string;
  readonly expiresAt: number;
}

const VALUE: Value = { sessionId: 's1', expiresAt: START + 3_600_000 };

let time: number;
let grace: number;
let revocations: MemoryRevocations;
let cache: CheckCache<Value>;
/** How the store responds. */
let store: () => Promise<Value | null>;
let questions: number;

beforeEach(() => {
  time = START;
  grace = 60;
  questions = 0;
  store = found;
  revocations = new MemoryRevocations();
  cache = new CheckCache<Value>({
    revocations,
    maxEntries: 10,
    dependsOn: ({ sessionId }, revocation) =>
      revocation.kind === 'session' && revocation.sessionId === sessionId,
    isCurrent: () => true,
    expiryOf: ({ expiresAt }) => expiresAt,
    outageGraceSeconds: () => grace,
    now: () => time,
  });
});

afterEach(() => {
  cache[Symbol.dispose]();
});

const found = (): Promise<Value> => Promise.resolve(VALUE);
const away = (): Promise<never> => Promise.reject(new StoreUnavailableError('down'));

/** Asks for a key, and waits for the result if there is a promise. */
function ask(key = 'key'): Value | null | Promise<Value | null> {
  return cache.get(key, () => {
    questions += 1;
    return store();
  });
}

/** A store that responds when the test tells it to. */
function slowStore(): PromiseWithResolvers<Value | null> {
  const answer = Promise.withResolvers<Value | null>();
  store = () => answer.promise;
  return answer;
}

/** Lets the callbacks of settled promises run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('A check of the cache', () => {
  test('stays valid for five seconds', async () => {
    await ask();
    time += FRESH - 1;
    expect(ask()).toBe(VALUE);
    time += 1;
    expect(ask()).toBeInstanceOf(Promise);
    await settled();
    expect(questions).toBe(2);
  });

  test('is as old as its begin', async () => {
    const slow = slowStore();
    const asked = ask();
    time += FRESH - 1;
    slow.resolve(VALUE);
    await asked;
    expect(ask()).toBe(VALUE);
    time += 1;
    expect(ask()).toBeInstanceOf(Promise);
  });

  test('is not valid beyond the expiry of its value', async () => {
    store = () => Promise.resolve({ ...VALUE, expiresAt: START + 10 });
    await ask();
    time += 9;
    expect(ask()).toMatchObject({ sessionId: 's1' });
    time += 1;
    store = () => Promise.resolve(null);
    expect(await ask()).toBeNull();
  });

  test('does not stay valid for longer when the clock is set back', async () => {
    await ask();
    time -= 1;
    expect(ask()).toBeInstanceOf(Promise);
  });

  test('that finds nothing is not cached', async () => {
    store = () => Promise.resolve(null);
    expect(await ask()).toBeNull();
    store = found;
    expect(await ask()).toBe(VALUE);
  });
});

describe('While the stores are unavailable', () => {
  test('the first check of a key fails', async () => {
    store = away;
    await expect(ask()).rejects.toThrow(StoreUnavailableError);
  });

  test('the last good check stays valid for the grace period', async () => {
    await ask();
    store = away;
    time += FRESH;
    expect(await ask()).toBe(VALUE);
    time = START + 59_999;
    expect(await ask()).toBe(VALUE);
    time = START + 60_000;
    await expect(ask()).rejects.toThrow(StoreUnavailableError);
  });

  test('without a grace period the last good check stays valid for five seconds only', async () => {
    await ask();
    store = away;
    grace = 0;
    time += FRESH - 1;
    expect(ask()).toBe(VALUE);
    time += 1;
    await expect(ask()).rejects.toThrow(StoreUnavailableError);
    await expect(ask()).rejects.toThrow(StoreUnavailableError);
  });

  test('setting the grace period to 0 ends entries that it had kept', async () => {
    await ask();
    store = away;
    time += FRESH;
    expect(await ask()).toBe(VALUE);
    grace = 0;
    await expect(ask()).rejects.toThrow(StoreUnavailableError);
  });

  test('the last good check is not valid beyond the expiry of its value', async () => {
    store = () => Promise.resolve({ ...VALUE, expiresAt: START + 10_000 });
    await ask();
    store = away;
    time += 9999;
    expect(await ask()).toMatchObject({ sessionId: 's1' });
    time += 1;
    await expect(ask()).rejects.toThrow(StoreUnavailableError);
  });

  test('the stores are asked about a key once a second, and no request waits', async () => {
    await ask();
    store = away;
    time += FRESH;
    await ask();
    expect(questions).toBe(2);
    for (let request = 0; request < 10; request += 1) {
      time += RETRY / 10;
      expect(ask()).toBe(VALUE);
      await settled();
    }
    expect(questions).toBe(3);
  });

  test('no request waits for stores that do not respond, once they have failed', async () => {
    await Promise.all([ask('one'), ask('two')]);
    time += FRESH;
    store = away;
    await ask('one');
    const slow = slowStore();
    expect(ask('two')).toBe(VALUE);
    time += RETRY;
    expect(ask('one')).toBe(VALUE);
    time += 2 * RETRY;
    expect(ask('one')).toBe(VALUE);
    expect(questions).toBe(5);
    slow.reject(new StoreUnavailableError('too slow'));
    await settled();
    expect(ask('one')).toBe(VALUE);
  });

  test('a received revocation ends an entry for good', async () => {
    await ask();
    store = away;
    time += FRESH;
    await ask();
    await revocations.publish({ kind: 'session', sessionId: 's1' });
    await expect(ask()).rejects.toThrow(StoreUnavailableError);
  });

  test('a revocation received during a check that fails ends the entry', async () => {
    await ask();
    const slow = slowStore();
    time += FRESH;
    const asked = ask();
    await revocations.publish({ kind: 'session', sessionId: 's1' });
    slow.reject(new StoreUnavailableError('down'));
    await expect(asked).rejects.toThrow(StoreUnavailableError);
    store = away;
    await expect(ask()).rejects.toThrow(StoreUnavailableError);
  });

  test('revocations that may have been missed end every entry for good', async () => {
    await Promise.all([ask('one'), ask('two')]);
    store = away;
    time += FRESH;
    await ask('one');
    await revocations.publish({ kind: 'missed' });
    await expect(ask('one')).rejects.toThrow(StoreUnavailableError);
    await expect(ask('two')).rejects.toThrow(StoreUnavailableError);
  });

  test('any other failure has no grace period', async () => {
    await ask();
    store = () => Promise.reject(new Error('a bug'));
    time += FRESH;
    await expect(ask()).rejects.toThrow('a bug');
  });
});

describe('When the stores are available again', () => {
  beforeEach(async () => {
    await ask();
    store = away;
    time += FRESH;
    await ask();
  });

  test('their results are used within a second', async () => {
    store = () => Promise.resolve(null);
    time += RETRY;
    await ask();
    await settled();
    expect(await ask()).toBeNull();
  });

  test('a request long after their failure waits for them', async () => {
    store = () => Promise.resolve(null);
    time += RETRY + FRESH;
    expect(await ask()).toBeNull();
  });

  test('an entry that they confirm is valid for five more seconds', async () => {
    store = found;
    time += RETRY;
    await ask();
    await settled();
    time += FRESH - 1;
    expect(ask()).toBe(VALUE);
    expect(questions).toBe(3);
    time += 1;
    expect(ask()).toBeInstanceOf(Promise);
  });
});

describe('A value that was revoked during a check', () => {
  test('is not returned by it', async () => {
    const slow = slowStore();
    const asked = ask();
    await revocations.publish({ kind: 'session', sessionId: 's1' });
    slow.resolve(VALUE);
    expect(await asked).toBeNull();
    store = () => Promise.resolve(null);
    expect(await ask()).toBeNull();
  });

  test('is looked up again if revocations were missed', async () => {
    const slow = slowStore();
    const asked = ask();
    await revocations.publish({ kind: 'missed' });
    store = () => Promise.resolve(null);
    slow.resolve(VALUE);
    expect(await asked).toBeNull();
    expect(questions).toBe(2);
  });

  test('fails the check if revocations are missed again', async () => {
    store = async () => {
      await settled();
      await revocations.publish({ kind: 'missed' });
      return VALUE;
    };
    await expect(ask()).rejects.toThrow(StoreUnavailableError);
    store = found;
    expect(await ask()).toBe(VALUE);
  });
});
