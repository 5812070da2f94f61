import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

import type { CrdSchema, ResourceKind } from './crd-schema.ts';

interface CustomResourceDefinition {
  readonly spec: {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: CrdSchema } }[];
  };
}

const FILES: Readonly<Record<ResourceKind, string>> = {
  Route: 'routes.yaml',
  GatewaySettings: 'gatewaysettings.yaml',
};

/** Reads the schema of a kind from its definition. */
export function readCrdSchema(kind: ResourceKind): CrdSchema {
  const text = readFileSync(new URL(FILES[kind], import.meta.url), 'utf8');
  // A test checks the shape of this file.
  const definition = parse(text) as CustomResourceDefinition;
  const version = definition.spec.versions[0];
  if (version === undefined) throw new Error(`${FILES[kind]} defines no version`);
  return version.schema.openAPIV3Schema;
}
