import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';

import type { BuiltImage } from './built-image.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** The official schemas of CycloneDX. */
const SCHEMAS = join(ROOT, 'node_modules/@cyclonedx/cyclonedx-library/res/schema');
/** Where the schemas refer to each other. */
const BASE_URL = 'http://cyclonedx.org/schema/';

/** The document of an image that says what it holds. */
export interface BillOfMaterials {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly purl: string;
    readonly licenses: readonly [{ readonly expression: string }];
  }[];
}

/** Reads the bill of materials of an image. Rejects if it does not follow the schema. */
export async function readBillOfMaterials(image: BuiltImage): Promise<BillOfMaterials> {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
    ajv.addSchema(await readSchema(name), `${BASE_URL}${name}.SNAPSHOT.schema.json`);
  const validate = ajv.compile<BillOfMaterials>(await readSchema('bom-1.6'));
  const bill = await readJson(join(image.root, 'usr/share/doc/gatehouse/sbom.cdx.json'));
  if (!validate(bill)) throw new Error(ajv.errorsText(validate.errors));
  return bill;
}

/** Reads the npm packages that the program of an image is made of. A line before each module names its file. */
export async function packagesInProgram(image: BuiltImage): Promise<readonly string[]> {
  const folder = join(image.root, 'app/cli');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  const folders = files.map(async (name) => {
    const code = await readFile(join(folder, name), 'utf8');
    const lines = code.matchAll(/^\/\/ (.*node_modules\/(?:@[^/\s]+\/)?[^/\s]+)\/\S+$/gm);
    return [...lines].map(([, path = '']) => path);
  });
  return Promise.all([...new Set((await Promise.all(folders)).flat())].map(purlOf));
}

async function purlOf(folder: string): Promise<string> {
  const manifest = await readJson(join(ROOT, folder, 'package.json'));
  const { name, version } = manifest as { readonly name: string; readonly version: string };
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

async function readSchema(name: string): Promise<object> {
  return (await readJson(join(SCHEMAS, `${name}.SNAPSHOT.schema.json`))) as object;
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'));
}
