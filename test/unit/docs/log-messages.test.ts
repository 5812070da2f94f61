import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const CODE = read('{cli,controller,proxy,shared}/**/*.ts');

/** Beginnings of commands, and of settings of other programs. */
const NO_MESSAGE =
  /^(gatehouse|helm|kubectl|make|npm|claude|codex|opencode|append|maxmemory|openid) ?/;

test.each(quotedPhrases())('the documents quote "%s", which the code logs', (phrase) => {
  expect(CODE).toContain(`'${phrase}'`);
});

test.each(renamedMessages())('CHANGELOG names "%s", which the code logs', (message) => {
  expect(CODE).toContain(`'${message}'`);
});

/** The second column of the table of renamed log messages, while it is not released. */
function renamedMessages(): readonly string[] {
  const [, unreleased = ''] = read('CHANGELOG.md').split(/^## /m);
  return [...unreleased.matchAll(/^ {2}\| `[^`]+` +\| `([^`]+)` +\|$/gm)].map(
    ([, message = '']) => message,
  );
}

/** Words in lower case in backticks: log messages, but for commands and the like. */
function quotedPhrases(): readonly string[] {
  const phrases = read('docs/*.md').matchAll(/`([a-z][a-z-]*(?: [A-Za-z,-]+)+)`/g);
  const quoted = new Set([...phrases].map(([, phrase = '']) => phrase));
  return [...quoted].filter((phrase) => !NO_MESSAGE.test(phrase));
}

function read(pattern: string): string {
  const files = globSync(pattern, { cwd: ROOT });
  return files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
}
