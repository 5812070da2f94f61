import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { AREAS } from '../requirements/requirements.ts';

const TESTS = join(import.meta.dirname, '..');
const IDS = AREAS.flatMap((area) => Object.keys(area));

test('every requirement is cited by a test', () => {
  const cited = new Set(citations());
  expect(IDS.filter((id) => !cited.has(id))).toEqual([]);
});

test('every requirement is in one area', () => {
  expect(IDS.filter((id, index) => IDS.indexOf(id) !== index)).toEqual([]);
});

/** Returns the ids in the first argument of every `verifies(...)` call. */
function citations(): readonly string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(TESTS, name), 'utf8'))
    .flatMap((source) => [...source.matchAll(/\bverifies\(\s*(\[[^\]]*\]|'[^']*')/g)])
    .flatMap(([, ids = '']) => [...ids.matchAll(/'([^']+)'/g)])
    .map(([, id = '']) => id);
}
