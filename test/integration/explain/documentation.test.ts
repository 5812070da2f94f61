import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { readArguments } from '../../../cli/arguments.ts';
import { EXPLAIN_LINE } from '../../../cli/commands/explain/explain-flags.ts';
import { readExplainOptions } from '../../../cli/commands/explain/explain-options.ts';
import { runInProcess } from '../../support/command-line.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CASES = 'crds/examples/policy-test/invoices.yaml';

const text = readFileSync(join(ROOT, 'docs/explain.md'), 'utf8');
const examples = [...text.matchAll(/^```console\n\$ gatehouse (.*)\n([^]*?)^```$/gm)].map(
  ([, command = '', output = '']) => ({ command, output }),
);

describe('docs/explain.md', () => {
  test('has examples', () => {
    expect(examples.length).toBeGreaterThanOrEqual(2);
  });

  test.each(examples)('shows the output of $command', async ({ command, output }) => {
    const { stdout, stderr } = await runInProcess(argumentsOf(command));

    expect(withoutChance(stdout + stderr)).toBe(withoutChance(output));
  });

  test('shows a command that reads a cluster', () => {
    const [, command = ''] = /^```sh\ngatehouse explain (.*)\n```$/m.exec(text) ?? [];
    const flags = readArguments(EXPLAIN_LINE, argumentsOf(command), {});

    expect(readExplainOptions(flags)).toMatchObject({
      namespace: 'finance',
      request: { route: 'finance/invoices', tool: 'delete_invoice' },
    });
  });

  test('shows the cases that are in the repository', () => {
    expect(text).toContain(`\`\`\`yaml\n${readFileSync(join(ROOT, CASES), 'utf8')}\`\`\``);
  });
});

/** Splits a command line of words and texts in single quotes. Paths in it are relative to the repository. */
function argumentsOf(command: string): readonly string[] {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word);
  return words.map((word = '') =>
    word.startsWith('crds/') ? join(relative(process.cwd(), ROOT), word) : word,
  );
}

function withoutChance(output: string): string {
  return output.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'ID');
}
