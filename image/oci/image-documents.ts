import { type Blob, descriptorOf } from './blob.ts';
import type { Layer } from './pack-layers.ts';

/** What the image is called. */
export interface ImageName {
  readonly title: string;
  readonly version: string;
  readonly description: string;
}

const EPOCH = '1970-01-01T00:00:00Z';
const USER = '65532:65532';
const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** How the image runs (OCI image specification, "OCI Image Configuration"). The Dockerfile says the same. */
export function imageConfig(
  name: ImageName,
  architecture: string,
  layers: readonly Layer[],
): object {
  return {
    created: EPOCH,
    architecture,
    os: 'linux',
    config: {
      User: USER,
      Env: ['PATH=/usr/local/bin'],
      Entrypoint: ['gatehouse'],
      WorkingDir: '/',
      Labels: labelsOf(name),
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ title }) => ({ created: EPOCH, created_by: title })),
  };
}

/** What belongs to the image (OCI image specification, "OCI Image Manifest Specification"). */
export function imageManifest(name: ImageName, config: Blob, layers: readonly Layer[]): object {
  return {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: descriptorOf(CONFIG, config),
    layers: layers.map((layer) => descriptorOf(LAYER, layer)),
    annotations: labelsOf(name),
  };
}

/** The images of an archive. containerd names the image by the first annotation, and other tools tag it by the second. */
export function imageIndex(name: ImageName, architecture: string, manifest: Blob): object {
  const annotations = {
    'io.containerd.image.name': `docker.io/library/${name.title}:${name.version}`,
    'org.opencontainers.image.ref.name': name.version,
  };
  const platform = { architecture, os: 'linux' };
  return {
    schemaVersion: 2,
    mediaType: INDEX,
    manifests: [{ ...descriptorOf(MANIFEST, manifest), platform, annotations }],
  };
}

function labelsOf({ title, version, description }: ImageName): Readonly<Record<string, string>> {
  return {
    'org.opencontainers.image.title': title,
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.version': version,
  };
}
