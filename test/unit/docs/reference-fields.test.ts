import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import type { CrdSchema } from '../../../crds/crd-schema.ts';
import { readCrdSchema } from '../../../crds/read-crd-schema.ts';

const NOTHING: CrdSchema = { type: 'object' };
const DOCS = join(import.meta.dirname, '../../../docs');

describe.each([
  ['Route', 'reference-route.md'],
  ['GatewaySettings', 'reference-gatewaysettings.md'],
] as const)('the reference of %s', (kind, file) => {
  const spec = readCrdSchema(kind).properties?.['spec'] ?? NOTHING;
  const documented = fieldsIn(file);

  test('has a row for every field of spec', () => {
    const undocumented = Object.keys(spec.properties ?? {}).filter(
      (name) => !documented.some((path) => segmentsOf(path)[0] === name),
    );

    expect(undocumented).toEqual([]);
  });

  test('has rows for fields that the definition has, and no others', () => {
    expect(documented.filter((path) => !exists(spec, segmentsOf(path)))).toEqual([]);
  });
});

/** Paths such as `identityProviders[].name` in the first column of the table of fields. */
function fieldsIn(file: string): readonly string[] {
  const text = readFileSync(join(DOCS, file), 'utf8');
  const [section = ''] = (text.split('## Fields of `spec`')[1] ?? '').split('\n## ');
  const cells = [...section.matchAll(/^\|([^|]*)\|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path));
}

function segmentsOf(path: string): readonly string[] {
  return path.replaceAll('[]', '').split('.');
}

function exists(schema: CrdSchema, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  const member = (schema.items ?? schema).properties?.[name];
  return member !== undefined && exists(member, rest);
}
