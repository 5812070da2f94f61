import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

import { unreadable } from './load.ts';

/** Reads the text of a file; of the standard input for `-`. Throws `CommandFailure`, without the text. */
export async function readInput(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
}
