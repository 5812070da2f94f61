import { cp, mkdir, mkdtemp, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

import type { Architecture } from '../architectures.ts';
import { runProgram } from '../run-program.ts';
import type { Component } from '../contents/component.ts';
import { DebianPackages } from './debian-packages.ts';
import { linkageOf } from './linkage.ts';

/** The runtime libraries of GCC may be linked to anything. */
const OF_GCC = 'GPL-3.0-or-later WITH GCC-exception-3.1';
/** Packages that Node is linked to, and their licences. */
const LICENSES: Readonly<Record<string, string>> = {
  libatomic1: OF_GCC,
  libc6: 'LGPL-2.1-or-later',
  'libgcc-s1': OF_GCC,
  'libstdc++6': OF_GCC,
};
const PACKAGES = Object.keys(LICENSES);
/** It has texts of licences that others refer to, and says which release of Debian this is. */
const BASE = 'base-files';
/** Scanners find the packages of images without dpkg in these files. */
const STATUS = 'var/lib/dpkg/status.d';
const TEXTS = ['GPL-3', 'LGPL-2.1'];

/** Adds the shared libraries of Node to the tree, and what scanners and lawyers want to know of them. */
export async function addLibraries(
  root: string,
  architecture: Architecture,
): Promise<readonly Component[]> {
  const unpacked = await mkdtemp(join(tmpdir(), 'gatehouse-image-'));
  try {
    const debian = await DebianPackages.open(architecture.name);
    const files = await debian.download(PACKAGES);
    for (const file of files) await unpack(file, unpacked);
    for (const file of await debian.download([BASE, ...(await namesOfDocuments(unpacked))]))
      await unpack(file, unpacked);
    await copyLibraries(unpacked, root, architecture);
    await copyBase(unpacked, root);
    return await Promise.all(files.map((file) => describePackage(root, unpacked, file)));
  } finally {
    await rm(unpacked, { recursive: true });
  }
}

/** Some packages have their documents in another one. Returns the names of the others. */
async function namesOfDocuments(unpacked: string): Promise<readonly string[]> {
  const links = PACKAGES.map((name) => readlink(documentsOf(unpacked, name)).catch(() => []));
  return [...new Set((await Promise.all(links)).flat())];
}

async function copyLibraries(
  from: string,
  root: string,
  architecture: Architecture,
): Promise<void> {
  const places = [`usr/lib/${architecture.triplet}`, `lib/${architecture.triplet}`];
  const libraries = join(root, places[0] ?? '');
  await mkdir(libraries, { recursive: true });
  const node = await linkageOf(join(root, 'usr/local/bin/node'));
  const names = [...node.libraries];
  for (const name of names) {
    const file = places.map((place) => join(from, place, name)).find(existsSync);
    if (file === undefined)
      throw new Error(`Node needs ${name}, which ${PACKAGES.join(', ')} lack`);
    await cp(file, join(libraries, name), { dereference: true });
    const { libraries: more } = await linkageOf(file);
    names.push(...more.filter((each) => !names.includes(each)));
  }
  // The loader is found by a path that is a part of the program: /lib64/NAME or /lib/NAME.
  const loader = node.loader;
  const folder = dirname(loader).slice(1);
  if (folder === 'lib64') {
    await mkdir(join(root, 'usr/lib64'));
    await symlink('usr/lib64', join(root, 'lib64'));
  }
  const target = `../lib/${architecture.triplet}/${basename(loader)}`;
  await symlink(target, join(root, 'usr', folder, basename(loader)));
}

async function copyBase(from: string, root: string): Promise<void> {
  await cp(join(from, 'usr/lib/os-release'), join(root, 'etc/os-release'));
  await mkdir(join(root, STATUS), { recursive: true });
  for (const text of TEXTS) {
    const path = join('usr/share/common-licenses', text);
    await cp(join(from, path), join(root, path), { dereference: true });
  }
}

async function describePackage(root: string, unpacked: string, file: string): Promise<Component> {
  const control = await runProgram('dpkg-deb', ['--field', file]);
  const field = (name: string): string =>
    new RegExp(`^${name}: (.+)$`, 'm').exec(control)?.[1] ?? '';
  const name = field('Package');
  const version = field('Version');
  await writeFile(join(root, STATUS, name), control);
  const copyright = join(documentsOf(unpacked, name), 'copyright');
  await cp(copyright, join(documentsOf(root, name), 'copyright'), { dereference: true });
  const at = `${encodeURIComponent(name)}@${encodeURIComponent(version)}`;
  const purl = `pkg:deb/debian/${at}?arch=${field('Architecture')}`;
  return { kind: 'deb', name, version, license: LICENSES[name] ?? '', purl };
}

function documentsOf(root: string, name: string): string {
  return join(root, 'usr/share/doc', name);
}

async function unpack(file: string, folder: string): Promise<void> {
  await runProgram('dpkg-deb', ['--extract', file, folder]);
}
