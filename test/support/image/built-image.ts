import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { whyMissing } from '../missing-program.ts';
import { runProgram } from '../../../image/run-program.ts';
import { TemporaryDirectory } from '../temporary-directory.ts';

const MAIN = join(import.meta.dirname, '../../../image/main.ts');
const TOOLS = ['apt-get', 'dpkg-deb', 'eu-readelf', 'eu-strip'];

/** Why the image cannot be built here; undefined if it can. */
export const noImageReason: string | undefined = TOOLS.map(whyMissing).find(
  (reason) => reason !== undefined,
);

/** How the image runs, as its archive says. */
export interface ImageConfig {
  readonly architecture: string;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly WorkingDir: string;
    readonly Labels: Readonly<Record<string, string>>;
  };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An image that `make image` built, and what its archive unpacks to. Disposing of it deletes it. */
export class BuiltImage implements AsyncDisposable {
  readonly #directory: TemporaryDirectory;
  readonly archive: string;
  /** The files of the image, from its layers. */
  readonly root: string;
  readonly #layout: string;

  private constructor(directory: TemporaryDirectory, architecture: string) {
    this.#directory = directory;
    this.archive = join(directory.path, `gatehouse-image-${architecture}.tar`);
    this.root = join(directory.path, 'root');
    this.#layout = join(directory.path, 'layout');
  }

  static async build(architecture: string): Promise<BuiltImage> {
    const directory = await TemporaryDirectory.create();
    await runProgram(process.execPath, [MAIN, '--arch', architecture, '--out', directory.path]);
    const image = new BuiltImage(directory, architecture);
    await mkdir(image.root);
    await mkdir(image.#layout);
    await runProgram('tar', ['--extract', '--file', image.archive, '--directory', image.#layout]);
    for (const { digest } of (await image.manifest()).layers) {
      const layer = image.blobPath(digest);
      await runProgram('tar', ['--extract', '--gzip', '--file', layer, '--directory', image.root]);
    }
    return image;
  }

  /** The reference to the image in its archive. */
  async reference(): Promise<Descriptor> {
    const index = (await readJson(join(this.#layout, 'index.json'))) as {
      readonly manifests: readonly [Descriptor];
    };
    return index.manifests[0];
  }

  async manifest(): Promise<{
    readonly config: Descriptor;
    readonly layers: readonly Descriptor[];
  }> {
    const { digest } = await this.reference();
    return (await readJson(this.blobPath(digest))) as Awaited<ReturnType<BuiltImage['manifest']>>;
  }

  async config(): Promise<ImageConfig> {
    const { config } = await this.manifest();
    return (await readJson(this.blobPath(config.digest))) as ImageConfig;
  }

  blobPath(digest: string): string {
    return join(this.#layout, 'blobs', digest.replace(':', '/'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#directory[Symbol.asyncDispose]();
  }
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'));
}
