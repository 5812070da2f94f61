import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import {
  ACCESS_LOG_FIELDS,
  AUTHORIZE_LOG_FIELDS,
  DEFAULT_ACCESS_LOG_FIELDS,
  DEFAULT_AUTHORIZE_LOG_FIELDS,
} from '../../../shared/snapshot/log-fields.ts';

const REFERENCE = readFileSync(
  join(import.meta.dirname, '../../../docs/reference-gatewaysettings.md'),
  'utf8',
);

test.each([
  ['Log fields', DEFAULT_AUTHORIZE_LOG_FIELDS, AUTHORIZE_LOG_FIELDS],
  ['The access log', DEFAULT_ACCESS_LOG_FIELDS, ACCESS_LOG_FIELDS],
])('docs/reference-gatewaysettings.md lists the fields of: %s', (title, defaults, all) => {
  const [, text = ''] = REFERENCE.split(`**${title}.**`);
  const [first = '', second = ''] = text.split('It may name also');
  const further = all.filter((field) => !defaults.some((each) => each === field));

  expect(namesIn(first)).toEqual([...defaults].sort());
  expect(namesIn(second)).toEqual([...further, 'headers.NAME'].sort());
});

/** Names of fields in the first sentence. Other words in this style have capitals. */
function namesIn(text: string): readonly string[] {
  const [sentence = ''] = text.split(/\. |\(\[|\.\n/);
  return [...sentence.matchAll(/`([-a-z]+|headers\.NAME)`/g)].map(([, name = '']) => name).sort();
}
