import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { RUN_LINE } from '../../../cli/commands/run/run-options.ts';
import { VALIDATE } from '../../../cli/commands/validate.ts';
import { settingsVariables } from '../../../controller/standalone/environment-overrides.ts';
import {
  IDENTITY_PROVIDER_KEYS,
  isGroup,
  ROUTE_KEYS,
  SETTINGS_KEYS,
  type PlainKeys,
} from '../../../controller/standalone/plain/plain-keys.ts';

const TEXT = readFileSync(join(import.meta.dirname, '../../../docs/standalone.md'), 'utf8');

describe('docs/standalone.md', () => {
  const flags = [RUN_LINE, VALIDATE.line].flatMap((line) => Object.entries(line.flags));
  const variables = [
    ...settingsVariables().map(({ name }) => name),
    ...flags.flatMap(([, { environment }]) => environment ?? []),
  ];

  test.each([...new Set(flags.map(([name]) => `--${name}`))])('names the flag %s', (flag) => {
    expect(TEXT).toContain(`\`${flag}`);
  });

  test.each([...new Set(variables)])('names the variable %s', (variable) => {
    expect(TEXT).toContain(`\`${variable}\``);
  });

  const keys = [ROUTE_KEYS, SETTINGS_KEYS, IDENTITY_PROVIDER_KEYS].flatMap(leavesOf);
  test.each([...new Set(keys)])('names the key %s', (key) => {
    expect(TEXT).toMatch(new RegExp(`[\`.]${key}\``));
  });
});

function leavesOf(keys: PlainKeys): readonly string[] {
  return Object.entries(keys).flatMap(([name, key]) =>
    isGroup(key) ? leavesOf(key.keys) : [name],
  );
}
