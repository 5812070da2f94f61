import { readFile } from 'node:fs/promises';

import { parse } from 'yaml';

import { eventually } from '../../eventually.ts';
import { ApiStatusError } from '../api-status-error.ts';
import type { AdminClient } from '../cluster.ts';

/** The definitions of this project. */
export const OUR_DEFINITIONS: readonly URL[] = ['routes', 'gatewaysettings'].map(
  (plural) => new URL(`../../../../crds/${plural}.yaml`, import.meta.url),
);

/** Other resources that the controller watches, for API servers that do not have them. */
export const FOREIGN_DEFINITIONS: readonly URL[] = [
  new URL('referencegrants.yaml', import.meta.url),
];

/** The fields of a CustomResourceDefinition that are used here. */
interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly [{ readonly name: string }];
  };
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Installs the definitions in these files, unless the API server serves their resources already. */
export async function installDefinitions(admin: AdminClient, files: readonly URL[]): Promise<void> {
  await Promise.all(files.map(async (file) => await install(admin, await readDefinition(file))));
}

/** Returns the resources of these files that the API server lacks, such as `routes.gatehouse.dev`. */
export async function missingDefinitions(
  admin: AdminClient,
  files: readonly URL[],
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const file of files) {
    const definition = await readDefinition(file);
    const { group, names } = definition.spec;
    if (!(await isServed(admin, definition))) missing.push(`${names.plural}.${group}`);
  }
  return missing;
}

async function readDefinition(file: URL): Promise<Definition> {
  // These are our own files, which an API server checks.
  return parse(await readFile(file, 'utf8')) as Definition;
}

async function install(admin: AdminClient, definition: Definition): Promise<void> {
  if (await isServed(admin, definition)) return;
  // Created, not applied: API servers that do not know a field drop it when an object is created,
  // and refuse it in server-side apply.
  await admin.request('POST', DEFINITIONS, definition);
  await eventually(
    `${definition.spec.names.plural} are served`,
    async () => await isServed(admin, definition),
  );
}

async function isServed(admin: AdminClient, { spec }: Definition): Promise<boolean> {
  const [{ name: version }] = spec.versions;
  try {
    await admin.request('GET', `/apis/${spec.group}/${version}/${spec.names.plural}?limit=1`);
    return true;
  } catch (error) {
    if (error instanceof ApiStatusError && error.code === 404) return false;
    throw error;
  }
}
