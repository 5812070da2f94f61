import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A package as package-lock.json pins it. */
export interface LockedPackage {
  readonly version: string;
  /** `sha512-` and the hash of its archive. */
  readonly integrity: string;
}

/** Reads the version and hash that package-lock.json has for a package. */
export async function readLockedPackage(checkout: string, folder: string): Promise<LockedPackage> {
  const text = await readFile(join(checkout, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const found = packages[folder];
  if (found === undefined) throw new Error(`package-lock.json does not have ${folder}`);
  return found;
}
