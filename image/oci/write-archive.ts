import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Blob, documentBlob, pathOfBlob } from './blob.ts';
import { createTar } from './create-tar.ts';
import { imageConfig, imageIndex, imageManifest, type ImageName } from './image-documents.ts';
import { packLayers } from './pack-layers.ts';

/** What an archive is made of. */
export interface ArchiveSource {
  readonly tree: string;
  readonly architecture: string;
  readonly name: ImageName;
}

/**
 * Packs a tree as an OCI image layout, which also has the document that older engines look for in what
 * `docker load` reads. The same tree gives the same bytes. Returns the digest of the image's manifest.
 */
export async function writeArchive(file: string, source: ArchiveSource): Promise<string> {
  const { tree, architecture, name } = source;
  const layers = await packLayers(tree);
  const config = documentBlob(imageConfig(name, architecture, layers));
  const manifest = documentBlob(imageManifest(name, config, layers));
  const forDocker = {
    Config: pathOfBlob(config),
    RepoTags: [`${name.title}:${name.version}`],
    Layers: layers.map(pathOfBlob),
  };
  await writeLayout(file, [manifest, config, ...layers], {
    'oci-layout': { imageLayoutVersion: '1.0.0' },
    'index.json': imageIndex(name, architecture, manifest),
    'manifest.json': [forDocker],
  });
  return manifest.digest;
}

async function writeLayout(
  file: string,
  blobs: readonly Blob[],
  documents: Readonly<Record<string, object>>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-image-'));
  try {
    await mkdir(join(folder, 'blobs/sha256'), { recursive: true });
    for (const [name, document] of Object.entries(documents)) {
      await writeFile(join(folder, name), JSON.stringify(document));
    }
    for (const blob of blobs) await writeFile(join(folder, pathOfBlob(blob)), blob.contents);
    await createTar(file, folder, [...Object.keys(documents), ...blobs.map(pathOfBlob)]);
  } finally {
    await rm(folder, { recursive: true });
  }
}
