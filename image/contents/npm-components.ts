import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { readLockedPackage } from '../locked-package.ts';
import { isAcceptedLicense } from './accepted-licenses.ts';
import type { Component } from './component.ts';

const TEXTS = /^(licen[cs]e|copying|notice)/i;

/**
 * Describes npm packages by their folders in a checkout. Rejects if one has a licence that is not accepted, or
 * none.
 */
export async function describeNpmPackages(
  checkout: string,
  folders: readonly string[],
): Promise<readonly Component[]> {
  const described = await Promise.all(folders.map((folder) => describe(checkout, folder)));
  // Two folders may hold the same version of a package.
  const components = [...new Map(described.map((each) => [each.purl, each])).values()];
  const refused = components.filter(({ license }) => !isAcceptedLicense(license));
  if (refused.length === 0) return components;
  const list = refused.map(({ name, version, license }) => `${name}@${version}: ${license}`);
  throw new Error(
    `the image would hold packages whose licence image/contents/accepted-licenses.ts does not name:\n${list.join('\n')}`,
  );
}

async function describe(checkout: string, folder: string): Promise<Component> {
  const text = await readFile(join(checkout, folder, 'package.json'), 'utf8');
  const manifest = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const { integrity } = await readLockedPackage(checkout, folder);
  const name = String(manifest['name']);
  const version = String(manifest['version']);
  const license = typeof manifest['license'] === 'string' ? manifest['license'] : 'no licence';
  return {
    kind: 'npm',
    ...{ name, version, license },
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    sha512: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
    texts: await readTexts(join(checkout, folder)),
  };
}

async function readTexts(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => TEXTS.test(name)).sort();
  return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
}
