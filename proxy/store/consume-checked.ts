import type { TokenHash } from '../crypto/tokens.ts';
import type { SingleUseStore } from './single-use-store.ts';

/**
 * Uses a record up if `check` accepts it; null if it is unknown, expired or used. If `check` throws, the
 * record can still be used: what is presented in the wrong place stays good in the right one.
 *
 * A record never changes, so what was checked is what is consumed.
 */
export async function consumeChecked<Value, Key extends string = TokenHash>(
  store: Pick<SingleUseStore<Value, Key>, 'peek' | 'consume'>,
  key: Key,
  check: (record: Value) => void,
): Promise<Value | null> {
  const record = await store.peek(key);
  if (record === null) return null;
  check(record);
  return store.consume(key);
}
