/**
 * Builds the container image without a container engine: its file tree, and an archive of it that
 * `ctr images import` and `docker load` read. The Dockerfile takes the same tree.
 */
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { findArchitecture, MACHINE_ARCHITECTURE } from './architectures.ts';
import { BILL_OF_MATERIALS, buildTree } from './build-tree.ts';
import { writeArchive } from './oci/write-archive.ts';
import { readImageName } from './read-image-name.ts';

const CHECKOUT = join(import.meta.dirname, '..');

const { values } = parseArgs({
  options: {
    arch: { type: 'string', default: MACHINE_ARCHITECTURE },
    out: { type: 'string', default: join(CHECKOUT, 'artifacts') },
    'tree-only': { type: 'boolean', default: false },
  },
});
const architecture = findArchitecture(values.arch);
const tree = join(values.out, `gatehouse-image-${architecture.name}`);
await mkdir(values.out, { recursive: true });
await buildTree(CHECKOUT, tree, architecture);
await copyFile(join(tree, BILL_OF_MATERIALS), `${tree}.cdx.json`);
console.log(`${tree}\n${tree}.cdx.json`);
if (!values['tree-only']) {
  const file = `${tree}.tar`;
  const name = await readImageName(CHECKOUT);
  const digest = await writeArchive(file, { tree, architecture: architecture.name, name });
  console.log(`${file}\n${name.title}:${name.version} ${digest}`);
}
