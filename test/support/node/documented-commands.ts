import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { runCommand } from './run-command.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Where a reader runs commands. */
interface Terminal {
  /** The checkout by default. */
  readonly directory?: string;
  /** Environment variables, besides those of this process. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Returns the blocks of commands and output in a section of a document, by its heading. */
export async function documentedBlocks(
  file: string,
  heading: string,
  language = '',
): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, file), 'utf8');
  const section = text.split(/^##+ /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${file} has no section "${heading}"`);
  return [...section.matchAll(/^( *)```(\w*)\n([^]*?)^ *```$/gm)].flatMap(
    ([, indent = '', written, block = '']) =>
      written === language ? [block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')] : [],
  );
}

/**
 * Runs a block of commands, as a shell of a reader does, and returns what it printed. A bash whose input is a socket
 * takes itself for a remote shell, and reads `.bashrc`, which may set another PATH.
 */
export async function runDocumented(
  block: string | undefined,
  { directory = ROOT, variables = {} }: Terminal = {},
): Promise<string> {
  if (block === undefined) throw new Error('the document has fewer blocks of commands');
  const script = `set -euo pipefail\n${block}`;
  return await runCommand('bash', ['--norc', '-c', script], { directory, variables });
}
