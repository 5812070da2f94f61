import { describe, expect, test } from '@jest/globals';

import { CheckCache } from '../../../../proxy/authentication/check-cache.ts';
import { MemoryRevocations } from '../../../../proxy/store/memory/memory-revocations.ts';
import type { Revocation } from '../../../../proxy/store/revocations.ts';
import { StoreUnavailableError } from '../../../../proxy/store/store-unavailable-error.ts';

const START = 1_000_000;
const FRESH = 5000;

/** More microtasks than any continuation of a check has, so that every place in it is visited. */
const MAX_TURNS = 8;
/** Turns after which nothing is left to run. */
const ALL_TURNS = 40;

const VALUE = { sessionId: 's1' };
type Value = typeof VALUE;

/**
 * What happens in a case: a check reads the store and gets the response later, the record is deleted, the
 * proxy hears of it, and a request arrives.
 */
type Event = 'read' | 'respond' | 'delete' | 'hear' | 'request';

/** All orders in which a response follows its read, and the message follows the deletion. */
const ORDERS = orders(['read', 'respond'], ['delete', 'hear']).flatMap((order) =>
  order.map((_event, index) => [
    ...order.slice(0, index + 1),
    'request',
    ...order.slice(index + 1),
  ]),
) as readonly (readonly Event[])[];

function orders(left: readonly Event[], right: readonly Event[]): readonly (readonly Event[])[] {
  const [first, ...others] = left;
  const [second, ...rest] = right;
  if (first === undefined) return [right];
  if (second === undefined) return [left];
  return [
    ...orders(others, right).map((order) => [first, ...order]),
    ...orders(left, rest).map((order) => [second, ...order]),
  ];
}

/** What the proxy hears, what the cache has before, and how the store responds. */
interface Situation {
  readonly revocation: Revocation;
  readonly isCached: boolean;
  readonly isAway: boolean;
}

interface Outcome {
  /** What the request got that arrived after the message. */
  readonly late: unknown;
  /** What a request gets from the cache in the end. */
  readonly last: unknown;
}

/** Runs one case. Each event comes after so many turns of the microtask queue, and not in a macrotask. */
async function run(
  order: readonly Event[],
  turns: readonly number[],
  { revocation, isCached, isAway }: Situation,
): Promise<Outcome> {
  let time = START;
  const revocations = new MemoryRevocations();
  using cache = new CheckCache<Value>({
    revocations,
    maxEntries: 10,
    dependsOn: ({ sessionId }, known) => known.kind === 'session' && known.sessionId === sessionId,
    isCurrent: () => true,
    expiryOf: () => Infinity,
    outageGraceSeconds: () => 60,
    now: () => time,
  });
  let isStored = true;
  const stored = (): Promise<Value | null> => Promise.resolve(isStored ? VALUE : null);
  if (isCached) {
    await cache.get('key', stored);
    time += FRESH;
  }
  const response = Promise.withResolvers<Value | null>();
  let wasRead: Value | null = null;
  const respond = (): void => {
    if (isAway) response.reject(new StoreUnavailableError('down'));
    else response.resolve(wasRead);
  };
  let attempts = 0;
  // A check that may have missed revocations asks again, and then reads what the store has by then.
  const first = settle(
    cache.get('key', () => {
      attempts += 1;
      return attempts === 1 ? response.promise : stored();
    }),
  );
  let late: Promise<unknown> = Promise.resolve(null);
  let wasHeard = false;
  const happen: Readonly<Record<Event, () => void>> = {
    read: () => void (wasRead = isStored ? VALUE : null),
    respond,
    delete: () => void (isStored = false),
    hear() {
      wasHeard = true;
      void revocations.publish(revocation);
    },
    request() {
      const got = settle(cache.get('key', stored));
      if (wasHeard) late = got;
    },
  };
  for (const [index, event] of order.entries()) {
    for (let turn = 0; turn < (turns[index] ?? 0); turn += 1) await Promise.resolve();
    happen[event]();
  }
  for (let turn = 0; turn < ALL_TURNS; turn += 1) await Promise.resolve();
  await first;
  return { late: await late, last: cache.get('key', () => Promise.resolve(null)) };
}

function settle(got: Value | null | Promise<Value | null>): Promise<unknown> {
  return Promise.resolve(got).catch((error: unknown) => error);
}

/** All numbers of turns before each of the events that follow the response. */
function turnsAfterResponse(order: readonly Event[]): readonly (readonly number[])[] {
  const begin = order.indexOf('respond') + 1;
  return order
    .slice(begin)
    .reduce<readonly (readonly number[])[]>(
      (before) =>
        before.flatMap((turns) =>
          Array.from({ length: MAX_TURNS + 1 }, (_turn, count) => [...turns, count]),
        ),
      [Array<number>(begin).fill(1)],
    );
}

describe.each<[string, Revocation]>([
  ['a revocation', { kind: 'session', sessionId: 's1' }],
  ['a missed message', { kind: 'missed' }],
])('In every interleaving of a check with %s', (_name, revocation) => {
  test.each<[string, Omit<Situation, 'revocation'>]>([
    ['the store responds for the first time', { isCached: false, isAway: false }],
    ['the store responds again', { isCached: true, isAway: false }],
    ['the store is unavailable after a good check', { isCached: true, isAway: true }],
  ])('no later request gets the value: %s', async (_case, situation) => {
    const wrong: unknown[] = [];
    let cases = 0;
    for (const order of ORDERS) {
      for (const turns of turnsAfterResponse(order)) {
        const { late, last } = await run(order, turns, { revocation, ...situation });
        cases += 1;
        if (late === VALUE || last === VALUE) wrong.push({ order, turns, late, last });
      }
    }
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(cases).toBeGreaterThan(2000);
  });
});
