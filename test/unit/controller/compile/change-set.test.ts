import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import {
  mergeChangeSets,
  NO_CHANGES,
  type ChangeSet,
} from '../../../../controller/compile/change-set.ts';
import type { SnapshotResource } from '../../../../shared/snapshot/snapshot.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e'];

describe('mergeChangeSets', () => {
  test('has the effect of one change set after the other', () => {
    fc.assert(
      fc.property(tables(), changeSets(), changeSets(), (table, first, second) => {
        const merged = mergeChangeSets(first, second);

        expect(apply(table, merged)).toEqual(apply(apply(table, first), second));
      }),
    );
  });

  test('names no key twice', () => {
    fc.assert(
      fc.property(changeSets(), changeSets(), (first, second) => {
        const { put, deleted } = mergeChangeSets(first, second);
        const keys = [...put.map(({ key }) => key), ...deleted];

        expect(new Set(keys).size).toBe(keys.length);
      }),
    );
  });

  test('is associative', () => {
    fc.assert(
      fc.property(changeSets(), changeSets(), changeSets(), (first, second, third) => {
        const left = mergeChangeSets(mergeChangeSets(first, second), third);
        const right = mergeChangeSets(first, mergeChangeSets(second, third));

        expect(sorted(left)).toEqual(sorted(right));
      }),
    );
  });

  test('leaves a change set as it is when it is merged with no changes', () => {
    fc.assert(
      fc.property(changeSets(), (changes) => {
        expect(mergeChangeSets(changes, NO_CHANGES)).toEqual(changes);
        expect(mergeChangeSets(NO_CHANGES, changes)).toEqual(changes);
      }),
    );
  });
});

type Table = ReadonlyMap<string, SnapshotResource>;

function apply(table: Table, { put, deleted }: ChangeSet): Table {
  const next = new Map(table);
  for (const key of deleted) next.delete(key);
  for (const resource of put) next.set(resource.key, resource);
  return next;
}

function sorted({ put, deleted }: ChangeSet): ChangeSet {
  return {
    put: put.toSorted((one, other) => one.key.localeCompare(other.key)),
    deleted: deleted.toSorted(),
  };
}

function tables(): fc.Arbitrary<Table> {
  return fc.uniqueArray(fc.constantFrom(...KEYS)).map((keys) => {
    return new Map(keys.map((key) => [key, resource(key, 0)]));
  });
}

/** Change sets over few keys, each key either put or deleted. */
function changeSets(): fc.Arbitrary<ChangeSet> {
  const change = fc.record({
    key: fc.constantFrom(...KEYS),
    generation: fc.option(fc.integer({ min: 1, max: 3 })),
  });
  return fc.uniqueArray(change, { selector: ({ key }) => key }).map((changes) => ({
    put: changes.flatMap(({ key, generation }) =>
      generation === null ? [] : [resource(key, generation)],
    ),
    deleted: changes.flatMap(({ key, generation }) => (generation === null ? [key] : [])),
  }));
}

function resource(key: string, generation: number): SnapshotResource {
  const hash = `${key}-${String(generation)}`;
  return { key, hash, value: { kind: 'service', name: key, ports: [] } };
}
