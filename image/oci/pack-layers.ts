import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import { listTree } from '../list-tree.ts';
import { type Blob, blobOf } from './blob.ts';
import { createTar } from './create-tar.ts';

/** A part of the tree, compressed. */
export interface Layer extends Blob {
  readonly title: string;
  /** The digest of the layer before it is compressed. */
  readonly diffId: string;
}

/** What seldom changes comes first: nodes that have a layer do not fetch it again. */
const LAYERS = [
  { title: 'libraries and base files', holds: (path: string) => !isNode(path) && !isProgram(path) },
  { title: 'Node', holds: isNode },
  { title: 'Gatehouse', holds: isProgram },
];

const compress = promisify(gzip);

/** Packs each file of a tree in one layer. */
export async function packLayers(tree: string): Promise<readonly Layer[]> {
  const paths = (await listTree(tree)).map(({ path }) => path);
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-image-'));
  try {
    return await Promise.all(
      LAYERS.map(async ({ title, holds }, index) => {
        const file = join(folder, `${String(index)}.tar`);
        await createTar(file, tree, withParents(paths.filter(holds)));
        const packed = await readFile(file);
        return { title, diffId: blobOf(packed).digest, ...blobOf(await compress(packed)) };
      }),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A folder comes before what it holds, also where an earlier layer has it. */
function withParents(paths: readonly string[]): readonly string[] {
  const all = paths.flatMap((path) => {
    const names = path.split('/');
    return names.map((_, index) => names.slice(0, index + 1).join('/'));
  });
  return [...new Set(all)].sort();
}

function isNode(path: string): boolean {
  return path === 'usr/local/bin/node' || path.startsWith('usr/share/doc/node/');
}

function isProgram(path: string): boolean {
  return /^(app\/|usr\/share\/doc\/gatehouse\/|usr\/local\/bin\/.*gatehouse$)/.test(path);
}
