import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { CHART } from '../support/chart/helm.ts';
import { readChartValues } from '../support/generate/chart-values.ts';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

// A file of the chart.
const SCHEMA = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema;
const VALUES = readChartValues(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
const TEMPLATES = globSync('templates/**/*.{yaml,tpl,txt}', { cwd: CHART })
  .map((file) => readFileSync(join(CHART, file), 'utf8'))
  .join('\n');

/** What Helm passes to charts, and what the schema describes inside a value that is documented as a whole. */
const WHOLE = VALUES.map(({ path }) => path);

function resolve(schema: Schema): Schema {
  const name = schema.$ref?.replace('#/$defs/', '');
  return name === undefined ? schema : (SCHEMA.$defs?.[name] ?? {});
}

/** Returns the paths of a schema down to values that are documented as a whole. */
function pathsOf(schema: Schema, prefix = ''): readonly string[] {
  return Object.entries(resolve(schema).properties ?? {}).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    return WHOLE.includes(path) ? [path] : pathsOf(member, `${path}.`);
  });
}

/** Returns the schemas of maps that have properties, with their paths. */
function mapsOf(schema: Schema, path = ''): readonly (readonly [string, Schema])[] {
  const { properties, ...rest } = resolve(schema);
  if (properties === undefined) return [];
  const below = Object.entries(properties).flatMap(([name, member]) =>
    mapsOf(member, `${path}/${name}`),
  );
  return [[path, { properties, ...rest }], ...below];
}

describe('the values of the chart', () => {
  test('are those of the schema', () => {
    expect([...pathsOf(SCHEMA)].sort()).toEqual([...WHOLE].sort());
  });

  test('are the only ones: the schema refuses others at every level', () => {
    const open = mapsOf(SCHEMA).filter(([, map]) => map.additionalProperties !== false);
    // Helm gives `global` to every chart, and others may have their own values there.
    expect(open.map(([path]) => path)).toEqual(['/global']);
  });

  test.each(VALUES)('$path says what it means in a sentence of its own', ({ description }) => {
    expect(description).toMatch(/^[A-Z`]/);
    expect(description).not.toMatch(/\.$/);
  });

  test('that templates read all exist', () => {
    const read = [...TEMPLATES.matchAll(/\.Values\.([a-zA-Z]+(?:\.[a-zA-Z]+)*)/g)].map(
      ([, path = '']) => path,
    );
    const known = (path: string): boolean =>
      WHOLE.some(
        (each) => each === path || each.startsWith(`${path}.`) || path.startsWith(`${each}.`),
      );
    expect(read.filter((path) => !known(path))).toEqual([]);
    expect(read.length).toBeGreaterThan(100);
  });
});
