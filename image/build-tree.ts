import { chmod, cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { Architecture } from './architectures.ts';
import type { Component } from './contents/component.ts';
import { describeNpmPackages } from './contents/npm-components.ts';
import { writeBillOfMaterials } from './contents/write-bill-of-materials.ts';
import { writeNotices } from './contents/write-notices.ts';
import { addLibraries } from './debian/add-libraries.ts';
import { addNode } from './node/add-node.ts';
import { normalizeTree } from './normalize-tree.ts';
import { bundleProgram, type Program } from './program/bundle-program.ts';
import { fillCompileCache } from './program/fill-compile-cache.ts';
import { readImageName } from './read-image-name.ts';

/** What the image holds, in CycloneDX, and under which licences. Scanners and readers find both here. */
export const BILL_OF_MATERIALS = 'usr/share/doc/gatehouse/sbom.cdx.json';
const NOTICES = 'usr/share/doc/gatehouse/licenses.txt';
const EVERYONE_EXECUTES = 0o755;
/** The user of the image. It owns no file in it. */
const USER_LINE = 'gatehouse:x:65532:65532::/:/sbin/nologin\n';
const GROUP_LINE = 'gatehouse:x:65532:\n';
/** Without this file, the C library asks the name server for `localhost` before it reads /etc/hosts. */
const NAME_SERVICES = 'passwd: files\ngroup: files\nhosts: files dns\n';
/** Names of the program. kubectl finds its plugins by theirs. */
const COMMANDS = ['gatehouse', 'kubectl-gatehouse'];

/** Writes all files of the image to a folder, which is emptied first. The same input gives the same files. */
export async function buildTree(
  checkout: string,
  root: string,
  architecture: Architecture,
): Promise<void> {
  await rm(root, { recursive: true, force: true });
  await writeBase(root);
  const node = await addNode(checkout, root, architecture);
  const libraries = await addLibraries(root, architecture);
  const program = await bundleProgram(checkout);
  await addProgram(checkout, root, program);
  await fillCompileCache(root, program.cached, architecture);
  const packages = await describeNpmPackages(checkout, program.packages);
  await describeContents(checkout, root, [node, ...libraries, ...packages]);
  await normalizeTree(root);
}

async function addProgram(checkout: string, root: string, program: Program): Promise<void> {
  const app = join(root, 'app');
  await mkdir(join(app, 'cli'), { recursive: true });
  for (const { path, contents } of program.files) await writeFile(join(app, path), contents);
  await chmod(join(app, program.entry), EVERYONE_EXECUTES);
  for (const command of COMMANDS) {
    await symlink(`/app/${program.entry}`, join(root, 'usr/local/bin', command));
  }
  // What the program reads by its place: its version, and the routes of the demo.
  const { title: name, version } = await readImageName(checkout);
  await writeFile(join(app, 'package.json'), JSON.stringify({ name, version, type: 'module' }));
  await cp(join(checkout, 'cli/demo/manifests'), join(app, 'cli/manifests'), { recursive: true });
}

async function describeContents(
  checkout: string,
  root: string,
  components: readonly Component[],
): Promise<void> {
  const { title: name, version, description } = await readImageName(checkout);
  const bill = writeBillOfMaterials({ name, version, description }, components);
  await mkdir(dirname(join(root, BILL_OF_MATERIALS)));
  await writeFile(join(root, BILL_OF_MATERIALS), bill);
  await writeFile(join(root, NOTICES), writeNotices(components));
}

async function writeBase(root: string): Promise<void> {
  for (const folder of ['etc', 'tmp', 'usr/lib', 'usr/local/bin']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await symlink('usr/lib', join(root, 'lib'));
  await writeFile(join(root, 'etc/passwd'), `root:x:0:0::/root:/sbin/nologin\n${USER_LINE}`);
  await writeFile(join(root, 'etc/group'), `root:x:0:\n${GROUP_LINE}`);
  await writeFile(join(root, 'etc/nsswitch.conf'), NAME_SERVICES);
}
