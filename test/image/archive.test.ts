import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { MACHINE_ARCHITECTURE } from '../../image/architectures.ts';
import { listTree } from '../../image/list-tree.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { packagesInProgram, readBillOfMaterials } from '../support/image/bill-of-materials.ts';
import { BuiltImage, noImageReason } from '../support/image/built-image.ts';

const describeImage = describeUnless(noImageReason);

const EVERYONE_WRITES = 0o022;
const CHANGES_USER = 0o6000;

describeImage('the archive of the image', () => {
  let image: BuiltImage;

  beforeAll(async () => {
    image = await BuiltImage.build(MACHINE_ARCHITECTURE);
  });

  afterAll(() => image[Symbol.asyncDispose]());

  test('is the same, byte by byte, when it is built again', async () => {
    await using again = await BuiltImage.build(MACHINE_ARCHITECTURE);
    expect((await again.reference()).digest).toBe((await image.reference()).digest);
    expect(hashOf(await readFile(again.archive))).toBe(hashOf(await readFile(image.archive)));
  });

  test('names each of its parts by its hash', async () => {
    const { config, layers } = await image.manifest();
    for (const { digest, size } of [await image.reference(), config, ...layers]) {
      const contents = await readFile(image.blobPath(digest));
      expect([hashOf(contents), contents.length]).toEqual([digest, size]);
    }
    const unpacked = layers.map(async ({ digest }) =>
      hashOf(gunzipSync(await readFile(image.blobPath(digest)))),
    );
    const { rootfs } = await image.config();
    expect(rootfs.diff_ids).toEqual(await Promise.all(unpacked));
  });

  test('is named after the version of the package', async () => {
    const text = await readFile(join(import.meta.dirname, '../../package.json'), 'utf8');
    const { version } = JSON.parse(text) as { readonly version: string };
    expect((await image.reference()).annotations).toEqual({
      'io.containerd.image.name': `docker.io/library/gatehouse:${version}`,
      'org.opencontainers.image.ref.name': version,
    });
    const { config } = await image.config();
    expect(config.Labels['org.opencontainers.image.version']).toBe(version);
  });

  test('runs the command as a user without rights', async () => {
    const { config, architecture } = await image.config();
    expect(architecture).toBe(MACHINE_ARCHITECTURE);
    expect(config).toMatchObject({ User: '65532:65532', Entrypoint: ['gatehouse'] });
  });

  test('holds no tests, packages, repository or secrets', async () => {
    const paths = (await listTree(image.root)).map(({ path }) => path);
    const unwanted =
      /\.git|\.env|\.npmrc|\.pem$|\.key$|(^|\/)(node_modules|test|artifacts|coverage)(\/|$)|\.test\./;
    expect(paths.filter((path) => unwanted.test(path))).toEqual([]);
    const folders = new Set(paths.map((path) => path.split('/')[0]));
    expect([...folders].sort()).toEqual(['app', 'etc', 'lib', 'lib64', 'tmp', 'usr', 'var']);
  });

  test('has no file that its user may change, and no program that changes users', async () => {
    const entries = await listTree(image.root);
    const stats = entries
      .filter(({ entry }) => !entry.isSymbolicLink())
      .map(async ({ path }) => ({ path, mode: (await stat(join(image.root, path))).mode }));
    const found = (await Promise.all(stats)).filter(
      ({ mode }) => (mode & (EVERYONE_WRITES | CHANGES_USER)) !== 0,
    );
    expect(found.map(({ path }) => path)).toEqual(['tmp']);
  });

  test('lists every npm package that its program is made of', async () => {
    const bill = await readBillOfMaterials(image);
    const purls = bill.components.map(({ purl }) => purl);
    const packages = await packagesInProgram(image);
    expect(packages.filter((purl) => !purls.includes(purl))).toEqual([]);
    expect(packages.length).toBeGreaterThan(100);
  });

  test('lists Node in the version of the checkout, and every Debian package', async () => {
    const bill = await readBillOfMaterials(image);
    const versions = new Map(bill.components.map(({ name, version }) => [name, version]));
    expect(versions.get('node')).toBe(process.versions.node);
    const packages = await readdir(join(image.root, 'var/lib/dpkg/status.d'));
    expect(packages.filter((name) => !versions.has(name))).toEqual([]);
    expect(packages).toContain('libc6');
  });

  test('has the licence of everything that it lists', async () => {
    const bill = await readBillOfMaterials(image);
    const path = join(image.root, 'usr/share/doc/gatehouse/licenses.txt');
    const notices = await readFile(path, 'utf8');
    const wanted = bill.components.flatMap(({ name, version, purl, licenses: [license] }) => {
      const line = `\n${name} ${version}: ${license.expression}\n`;
      const title = `\n${name} ${version} (${license.expression})\n`;
      return purl.startsWith('pkg:npm/') ? [line, title] : [line];
    });
    expect(wanted.filter((text) => !notices.includes(text))).toEqual([]);
  });
});

function hashOf(contents: Uint8Array): string {
  return `sha256:${createHash('sha256').update(contents).digest('hex')}`;
}
