import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

/** Values that the chart is rendered with in tests. */
export interface ValueSet {
  readonly name: string;
  readonly values: object;
}

const FOLDER = join(import.meta.dirname, '../../chart');
const SUFFIX = '.values.yaml';

/** The value sets of test/chart, each a file. */
export const VALUE_SETS: readonly ValueSet[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => ({
    name: file.slice(0, -SUFFIX.length),
    // Values are a map, or the chart refuses them.
    values: (parse(readFileSync(join(FOLDER, file), 'utf8')) ?? {}) as object,
  }));
