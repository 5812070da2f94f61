import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { ImageName } from './oci/image-documents.ts';

/** Reads what the image is called from the package of a checkout. */
export async function readImageName(checkout: string): Promise<ImageName> {
  const text = await readFile(join(checkout, 'package.json'), 'utf8');
  const { name, version, description } = JSON.parse(text) as Readonly<
    Record<'name' | 'version' | 'description', string>
  >;
  return { title: name, version, description };
}
