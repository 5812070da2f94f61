import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import {
  FOREIGN_REQUEST_FIELDS,
  FOREIGN_RESPONSE_FIELDS,
  GATEWAY_REQUEST_FIELDS,
  GATEWAY_RESPONSE_FIELDS,
  type FieldList,
} from '../../../shared/snapshot/header-fields.ts';

const LISTS: Readonly<Record<string, FieldList>> = {
  GATEWAY_REQUEST_FIELDS,
  FOREIGN_REQUEST_FIELDS,
  GATEWAY_RESPONSE_FIELDS,
  FOREIGN_RESPONSE_FIELDS,
};

const TEXT = readFileSync(join(import.meta.dirname, '../../../docs/reference-headers.md'), 'utf8');

test.each(Object.keys(LISTS))('the reference of header fields has every name of %s', (list) => {
  const { names, prefixes } = LISTS[list] ?? { names: new Set(), prefixes: [] };
  const expected = [...names, ...prefixes.map((prefix) => `${prefix}*`)].sort();

  expect(documented(list)).toEqual(expected);
});

/** Names in the points below the comment that names a list. */
function documented(list: string): readonly string[] {
  const [, section = ''] = TEXT.split(`<!-- list: ${list} -->\n\n`);
  const [points = ''] = section.split('\n\n');
  return [...points.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).sort();
}
