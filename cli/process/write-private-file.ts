import { rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Writes a file that only its owner can read, completely or not at all: a crash must not leave half a
 * key.
 */
export async function writePrivateFile(path: string, content: string | Buffer): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  await writeFile(temporary, content, { mode: 0o600, flush: true });
  await rename(temporary, path);
}
