import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import type { CommandLine } from '../../../cli/arguments.ts';
import {
  CLIENTS_LIST_LINE,
  CLIENTS_REVOKE_LINE,
} from '../../../cli/commands/clients/clients-flags.ts';
import { CONTROLLER_LINE } from '../../../cli/commands/controller/controller-flags.ts';
import { CREATE_SECRETS_LINE } from '../../../cli/commands/create-secrets/create-secrets-flags.ts';
import { EXPLAIN_LINE } from '../../../cli/commands/explain/explain-flags.ts';
import { PROXY_LINE } from '../../../cli/commands/proxy/proxy-flags.ts';
import { ROUTES_LINE } from '../../../cli/commands/routes/routes-flags.ts';
import {
  SESSIONS_LIST_LINE,
  SESSIONS_REVOKE_LINE,
} from '../../../cli/commands/sessions/sessions-flags.ts';
import { STATUS_LINE } from '../../../cli/commands/status/status-flags.ts';
import { RUN_LINE } from '../../../cli/commands/run/run-flags.ts';
import { TEST_INSTALL_LINE } from '../../../cli/commands/test-install/test-install-flags.ts';
import { VALIDATE_LINE } from '../../../cli/commands/validate/validate-flags.ts';
import { settingsVariables } from '../../../controller/files/environment-overrides.ts';
import {
  IDENTITY_PROVIDER_KEYS,
  isGroup,
  ROUTE_KEYS,
  SETTINGS_KEYS,
  type PlainKeys,
} from '../../../controller/files/plain/plain-keys.ts';

describe.each([
  { file: 'standalone.md', lines: [RUN_LINE, VALIDATE_LINE] },
  { file: 'explain.md', lines: [EXPLAIN_LINE] },
  { file: 'cli.md', lines: [STATUS_LINE, ROUTES_LINE] },
  {
    file: 'kubernetes.md',
    lines: [CONTROLLER_LINE, PROXY_LINE, CREATE_SECRETS_LINE, TEST_INSTALL_LINE],
  },
  {
    file: 'operate-users.md',
    lines: [
      ...[SESSIONS_LIST_LINE, SESSIONS_REVOKE_LINE],
      ...[CLIENTS_LIST_LINE, CLIENTS_REVOKE_LINE],
    ],
  },
])('docs/$file', ({ file, lines }) => {
  const text = readDocument(file);

  test.each(flagsOf(lines))('has a row for --$name', ({ name, environment }) => {
    const row = text.split('\n').find((line) => new RegExp(`^[|].*--${name}[ \`|]`).test(line));

    expect(row).toContain(environment === undefined ? `--${name}` : `\`${environment}\``);
  });
});

describe('docs/kubernetes.md', () => {
  test('names the controllers as the help of the proxy does', () => {
    const named = /https:\/\/gatehouse-controller[^\s'`]*:\d+/g;
    const { description = '' } = PROXY_LINE.flags['controller'] ?? {};
    const [inHelp] = description.match(named) ?? [];
    const inDocument = new Set(readDocument('kubernetes.md').match(named));

    expect(inDocument).toEqual(new Set([inHelp]));
  });
});

describe('docs/standalone.md', () => {
  const text = readDocument('standalone.md');

  test.each(settingsVariables().map(({ name }) => name))('names the variable %s', (variable) => {
    expect(text).toContain(`\`${variable}\``);
  });

  const keys = [ROUTE_KEYS, SETTINGS_KEYS, IDENTITY_PROVIDER_KEYS].flatMap(leavesOf);
  test.each([...new Set(keys)])('names the key %s', (key) => {
    expect(text).toMatch(new RegExp(`[\`.]${key}\``));
  });
});

function leavesOf(keys: PlainKeys): readonly string[] {
  return Object.entries(keys).flatMap(([name, key]) =>
    isGroup(key) ? leavesOf(key.keys) : [name],
  );
}

function readDocument(file: string): string {
  return readFileSync(join(import.meta.dirname, '../../../docs', file), 'utf8');
}

function flagsOf(
  lines: readonly CommandLine[],
): readonly { readonly name: string; readonly environment: string | undefined }[] {
  return lines.flatMap(({ flags }) =>
    Object.entries(flags).map(([name, { environment }]) => ({ name, environment })),
  );
}
