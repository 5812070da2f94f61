import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { REQUIREMENTS } from '../requirements/requirements.ts';

const TESTS = join(import.meta.dirname, '..');

test('every requirement is cited by a test', () => {
  const cited = new Set(citations());
  const uncited = Object.keys(REQUIREMENTS).filter((id) => !cited.has(id));
  expect(uncited).toEqual([]);
});

/** Ids in the first argument of every `verifies(...)` call. */
function citations(): readonly string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(TESTS, name), 'utf8'))
    .flatMap((source) => [...source.matchAll(/\bverifies\(\s*(\[[^\]]*\]|'[^']*')/g)])
    .flatMap(([, ids = '']) => [...ids.matchAll(/'([^']+)'/g)])
    .map(([, id = '']) => id);
}
