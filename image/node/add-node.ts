import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Architecture } from '../architectures.ts';
import type { Component } from '../contents/component.ts';
import { readLockedPackage } from '../locked-package.ts';
import { runProgram } from '../run-program.ts';

/**
 * Adds Node to the tree, in the version of package-lock.json: its program without the table of symbols,
 * and its licence. Stack traces and `--perf-basic-prof` do not need that table.
 */
export async function addNode(
  checkout: string,
  root: string,
  architecture: Architecture,
): Promise<Component> {
  const name = `node-linux-${architecture.nodeName}`;
  const installed = join(checkout, 'node_modules', name);
  const temporary = await mkdtemp(join(tmpdir(), 'gatehouse-image-'));
  try {
    const folder = existsSync(installed) ? installed : await download(checkout, name, temporary);
    const program = join(root, 'usr/local/bin/node');
    await runProgram('eu-strip', ['-o', program, join(folder, 'bin/node')]);
    await cp(join(folder, 'LICENSE'), join(root, 'usr/share/doc/node/LICENSE'));
    return describe((await readLockedPackage(checkout, `node_modules/${name}`)).version);
  } finally {
    await rm(temporary, { recursive: true });
  }
}

function describe(version: string): Component {
  const purl = `pkg:generic/node@${version}`;
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;
  return { kind: 'program', name: 'node', version, license: 'MIT', purl, cpe };
}

/** The version is fixed, so npm need not ask again for what it has; nor give up after a moment without network. */
const PACK = ['pack', '--loglevel=error', '--prefer-offline', '--fetch-retries=5'];

/** npm does not install the package of another architecture, so this downloads and checks it. */
async function download(checkout: string, name: string, folder: string): Promise<string> {
  const { version, integrity } = await readLockedPackage(checkout, `node_modules/${name}`);
  await runProgram('npm', [...PACK, `${name}@${version}`], folder);
  const file = join(folder, `${name}-${version}.tgz`);
  const hash = createHash('sha512')
    .update(await readFile(file))
    .digest('base64');
  if (integrity !== `sha512-${hash}`)
    throw new Error(`${name} is not what package-lock.json names`);
  await runProgram('tar', ['--extract', '--file', file, '--directory', folder]);
  return join(folder, 'package');
}
