import { CommandFailure } from '../command-failure.ts';

/** What the name of a key begins with that does not seal yet: it sorts before every other name. */
const NEXT = '0-';
const NAME = /^[1-9A-Za-z][-._0-9A-Za-z]{0,62}$/;

/** What an operator wants of the sealing keys. All of it may be done already. */
export interface SealingKeyWishes {
  /** A key that proxies can open with, and do not seal with yet. */
  readonly next: string | undefined;
  /** The key that seals. */
  readonly current: string | undefined;
  /** Keys that are no longer needed. */
  readonly retired: readonly string[];
}

/** The keys of a Secret by name, and what was changed, in words. */
export interface ChangedSealingKeys {
  readonly keys: ReadonlyMap<string, Buffer>;
  readonly changes: readonly string[];
}

/**
 * Returns the sealing keys that an operator wants. The key whose name sorts last seals, so a next key
 * has a name that sorts first until it becomes the current one. The first key has the name of `today`.
 *
 * Throws `CommandFailure` if a wish would lose the key that seals, or make another one seal that
 * proxies do not know yet.
 */
export function changeSealingKeys(
  before: ReadonlyMap<string, Buffer>,
  wishes: SealingKeyWishes,
  { today, makeKey }: { readonly today: string; readonly makeKey: () => Buffer },
): ChangedSealingKeys {
  const { next, current, retired } = wishes;
  for (const name of [next, current, ...retired]) checkName(name);
  const keys = new Map(before);
  const changes: string[] = [];
  if (keys.size === 0) {
    const first = current ?? today;
    keys.set(first, makeKey());
    changes.push(`made the key ${first}, which seals`);
  }
  if (next !== undefined && !keys.has(next) && !keys.has(NEXT + next)) {
    keys.set(NEXT + next, makeKey());
    changes.push(`made the key ${next}, which opens and does not seal yet`);
  }
  if (current !== undefined && !keys.has(current)) {
    promote(keys, current, before);
    changes.push(`the key ${current} seals`);
  }
  if (current !== undefined) checkSeals(keys, current);
  for (const name of retired) {
    if (keys.size > 1 && name === sealing(keys)) {
      throw new CommandFailure(`the sealing key ${name} seals, so it cannot be retired`);
    }
    if (keys.delete(name)) changes.push(`removed the key ${name}`);
  }
  if (keys.size === 0) throw new CommandFailure('the last sealing key cannot be retired');
  return { keys, changes };
}

function checkName(name: string | undefined): void {
  if (name === undefined || NAME.test(name)) return;
  throw new CommandFailure(
    `"${name}" cannot name a sealing key: use letters, digits, "-", "_" and ".", and no 0 at the beginning, such as 2027-01-01`,
  );
}

/** Only a key that every proxy can open with may seal. */
function promote(
  keys: Map<string, Buffer>,
  name: string,
  before: ReadonlyMap<string, Buffer>,
): void {
  const key = before.get(NEXT + name);
  if (key === undefined) {
    throw new CommandFailure(
      `there is no sealing key ${name}: make it the next key first, so that proxies know it before it seals`,
    );
  }
  keys.delete(NEXT + name);
  keys.set(name, key);
}

function checkSeals(keys: ReadonlyMap<string, Buffer>, name: string): void {
  const last = sealing(keys);
  if (last === name) return;
  throw new CommandFailure(
    `the sealing key ${name} cannot seal: the key whose name sorts last does, and that is ${String(last)}`,
  );
}

function sealing(keys: ReadonlyMap<string, Buffer>): string | undefined {
  return [...keys.keys()].sort().at(-1);
}
