import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { SealingKey, SealingKeys } from '../../proxy/crypto/sealing-key.ts';
import { errorCode } from '../../shared/runtime/error-code.ts';
import { CommandFailure } from '../command-failure.ts';
import { writePrivateFile } from './write-private-file.ts';

const KEY_BYTES = 32;
const STATE_FOLDER = 'sealing-keys';

/**
 * Reads the sealing keys of a directory, one per file. The last key by name seals, and all keys open.
 * Hidden files are ignored, so the directory can be a mounted Secret.
 */
export async function readSealingKeys(directory: string): Promise<SealingKeys> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    const reason = errorCode(error) ?? 'unknown error';
    throw new CommandFailure(`cannot read sealing keys in ${directory}: ${reason}`, {
      cause: error,
    });
  });
  const names = entries
    .filter((entry) => !entry.name.startsWith('.') && !entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .reverse();
  const [first, ...others] = await Promise.all(
    names.map(async (name) => readKey(join(directory, name))),
  );
  if (first === undefined) throw new CommandFailure(`no sealing keys in ${directory}`);
  return [first, ...others];
}

/** Reads the sealing keys of a state directory. The first start makes one. */
export async function keepSealingKeys(stateDirectory: string, now: Date): Promise<SealingKeys> {
  const directory = join(stateDirectory, STATE_FOLDER);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const names = await readdir(directory);
  if (names.every((name) => name.startsWith('.'))) {
    const name = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
    await writePrivateFile(join(directory, name), randomBytes(KEY_BYTES));
  }
  return readSealingKeys(directory);
}

/** Reads the sealing keys of a state directory that a gateway made. */
export function readKeptSealingKeys(stateDirectory: string): Promise<SealingKeys> {
  return readSealingKeys(join(stateDirectory, STATE_FOLDER));
}

/** Generates a sealing key for this process only: nothing can open what it sealed after the end. */
export function makeSealingKeys(): SealingKeys {
  return [{ secret: randomBytes(KEY_BYTES) }];
}

async function readKey(path: string): Promise<SealingKey> {
  const secret = await readFile(path);
  if (secret.length >= KEY_BYTES) return { secret };
  const need = `a sealing key needs at least ${String(KEY_BYTES)} bytes`;
  throw new CommandFailure(`${path} has ${String(secret.length)} bytes; ${need}`);
}
