import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { runCommand } from './run-command.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Returns the blocks of commands and output, which name no language, in a section of a document, by its heading. */
export async function documentedBlocks(file: string, heading: string): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, file), 'utf8');
  const section = text.split(/^##+ /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${file} has no section "${heading}"`);
  return [...section.matchAll(/^( *)```(\w*)\n([^]*?)^ *```$/gm)].flatMap(
    ([, indent = '', language, block = '']) =>
      language === '' ? [block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')] : [],
  );
}

/**
 * Runs a block of commands in the checkout, as a shell of a reader does, and returns what it printed. A bash whose
 * input is a socket takes itself for a remote shell, and reads `.bashrc`, which may set another PATH.
 */
export async function runDocumented(block: string | undefined): Promise<string> {
  if (block === undefined) throw new Error('the document has fewer blocks of commands');
  const script = `set -euo pipefail\n${block}`;
  return await runCommand('bash', ['--norc', '-c', script], { directory: ROOT });
}
