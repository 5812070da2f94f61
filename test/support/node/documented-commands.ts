import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { runCommand } from './run-command.ts';

const ROOT = join(import.meta.dirname, '../../..');

/**
 * Returns the blocks of a language in a section of a document, by its heading. Commands and output are those that name
 * no language.
 */
export async function documentedBlocks(
  file: string,
  heading: string,
  ofLanguage = '',
): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, file), 'utf8');
  const section = text.split(/^##+ /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${file} has no section "${heading}"`);
  return [...section.matchAll(/^( *)```(\w*)\n([^]*?)^ *```$/gm)].flatMap(
    ([, indent = '', language, block = '']) =>
      language === ofLanguage ? [block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')] : [],
  );
}

/**
 * Runs a block of commands in the checkout, or in another directory, as a shell of a reader does, and returns what it
 * printed. A bash whose input is a socket takes itself for a remote shell, and reads `.bashrc`, which may set another
 * PATH.
 */
export async function runDocumented(block: string | undefined, directory = ROOT): Promise<string> {
  if (block === undefined) throw new Error('the document has fewer blocks of commands');
  const script = `set -euo pipefail\n${block}`;
  return await runCommand('bash', ['--norc', '-c', script], { directory });
}

/** Leaves out of a table how long its objects exist, and how wide its columns are. */
export function withoutAges(table: string): string {
  return table.replaceAll(/\d+m?s$/gm, 'AGE').replaceAll(/ +/g, ' ');
}
