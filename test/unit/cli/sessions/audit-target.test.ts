import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { findAuditTarget, type AuditTarget } from '../../../../cli/sessions/audit-target.ts';
import { TemporaryDirectory } from '../../../support/temporary-directory.ts';

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
});
afterEach(() => directory[Symbol.asyncDispose]());

const output = (): string => join(directory.path, '1', 'fd', '1');

/** A first process with this command line, whose output is a file. */
async function aFirstProcess(...command: readonly string[]): Promise<void> {
  await mkdir(join(directory.path, '1', 'fd'), { recursive: true });
  await writeFile(join(directory.path, '1', 'cmdline'), `${command.join('\0')}\0`);
  await writeFile(output(), 'before\n');
}

function find(): { readonly target: AuditTarget; readonly written: readonly string[] } {
  const written: string[] = [];
  return {
    target: findAuditTarget({ write: (text) => written.push(text) }, directory.path),
    written,
  };
}

describe('the audit log of an operator', () => {
  test.each([
    { command: ['node', '/app/cli/gatehouse.js', 'proxy', '--gateway', 'a'] },
    { command: ['/sbin/tini', '--', 'gatehouse', 'proxy'] },
    { command: ['node', 'cli/main.ts', 'run', '--config', 'a.yaml'] },
  ])('is added to the log of the container of $command', async ({ command }) => {
    await aFirstProcess(...command);
    const { target, written } = find();
    target.sink.write('one\n');
    target.sink.write('two\n');

    expect(target.isLogOfContainer).toBe(true);
    expect(await readFile(output(), 'utf8')).toBe('before\none\ntwo\n');
    expect(written).toEqual([]);
  });

  test.each([
    { command: ['/sbin/init'] },
    { command: ['/pause'] },
    { command: ['gatehouse', 'controller'] },
    { command: ['vim', 'proxy'] },
  ])('is written to the caller where the first process is $command', async ({ command }) => {
    await aFirstProcess(...command);
    const { target, written } = find();
    target.sink.write('one\n');

    expect(target.isLogOfContainer).toBe(false);
    expect(written).toEqual(['one\n']);
    expect(await readFile(output(), 'utf8')).toBe('before\n');
  });

  test('is written to the caller where processes are not shown', () => {
    const { target, written } = find();
    target.sink.write('one\n');

    expect(written).toEqual(['one\n']);
    expect(target.isLogOfContainer).toBe(false);
  });
});
