import { createHash } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { SnapshotDigest } from '../../../../shared/snapshot/snapshot-digest.ts';

/** What a version is, without any cleverness. */
function versionOf(entries: ReadonlyMap<string, string>): string {
  const lines = [...entries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, hash]) => `${key}\t${hash}\n`);
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/** Few enough that the same key comes again, and more than a block has. */
const keys = fc.integer({ min: 0, max: 700 }).map((number) => `route/team/${String(number)}`);
const hashes = fc.integer({ min: 0, max: 3 }).map((number) => String(number).repeat(64));
const changes = fc.array(fc.tuple(keys, fc.option(hashes, { nil: undefined })), {
  maxLength: 900,
  size: 'max',
});

function change(
  entries: ReadonlyMap<string, string>,
  digest: SnapshotDigest,
  list: readonly (readonly [string, string | undefined])[],
): ReadonlyMap<string, string> {
  const changed = new Map(entries);
  for (const [key, hash] of list) {
    if (hash === undefined) {
      expect(digest.delete(key)).toBe(changed.delete(key));
    } else {
      digest.put(key, hash);
      changed.set(key, hash);
    }
  }
  return changed;
}

describe('the digest of a snapshot', () => {
  test('has the version of its lines after any changes', () => {
    fc.assert(
      fc.property(changes, (list) => {
        const digest = new SnapshotDigest();
        const entries = change(new Map(), digest, list);

        expect(digest.version()).toBe(versionOf(entries));
        expect(digest.size).toBe(entries.size);
      }),
      { numRuns: 30 },
    );
  });

  test('does not depend on the order of resources', () => {
    fc.assert(
      fc.property(fc.uniqueArray(keys, { maxLength: 600, size: 'max' }), hashes, (list, hash) => {
        const digest = SnapshotDigest.of(list.map((key) => ({ key, hash })));

        expect(digest.version()).toBe(versionOf(new Map(list.map((key) => [key, hash]))));
        expect(digest.size).toBe(list.length);
      }),
      { numRuns: 30 },
    );
  });

  test('does not change with its copy, and its copy not with it', () => {
    fc.assert(
      fc.property(changes, changes, changes, (before, ofFork, ofOriginal) => {
        const original = new SnapshotDigest();
        const entries = change(new Map(), original, before);
        const fork = original.fork();
        const forked = change(entries, fork, ofFork);
        const changed = change(entries, original, ofOriginal);

        expect(fork.version()).toBe(versionOf(forked));
        expect(original.version()).toBe(versionOf(changed));
      }),
      { numRuns: 20 },
    );
  });
});
