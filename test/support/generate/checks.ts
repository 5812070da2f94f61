import { Ajv, type Options } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';

import type { JsonSchema } from '../../../controller/validate/schemas/json-schema.ts';
import { shareRepeated } from './share-repeated.ts';

/** A module that exports a function for each of some schemas, which checks values by it. */
export interface Checks {
  /** JavaScript. */
  readonly code: string;
  /** The declarations of the module. */
  readonly types: string;
}

/** Generates the functions that check by schemas. One that returns false has its errors in `errors`. */
export function generateChecks(
  schemas: Readonly<Record<string, JsonSchema>>,
  options: Pick<Options, 'allErrors' | 'verbose' | 'messages' | 'discriminator'>,
): Checks {
  const named = Object.entries(schemas).map(([name, schema]) => ({
    ...shareRepeated(schema),
    $id: name,
  }));
  const ajv = new Ajv({
    ...options,
    schemas: named,
    inlineRefs: false,
    code: { source: true, esm: true },
  });
  const names = Object.fromEntries(Object.keys(schemas).map((name) => [name, name]));
  return {
    code: importInsteadOfRequire(standaloneCode.default(ajv, names)),
    types: declarationsOf(Object.keys(schemas)),
  };
}

function declarationsOf(names: readonly string[]): string {
  return [
    "import type { ErrorObject } from 'ajv';",
    ...names.map(
      (name) =>
        `export declare const ${name}: { (value: unknown): boolean; readonly errors?: readonly ErrorObject[] | null };`,
    ),
  ].join('\n\n');
}

/** ajv requires what generated code needs at run time, but modules have no `require`. */
function importInsteadOfRequire(code: string): string {
  return code.replaceAll(
    /const (\w+) = require\("([^"]+)"\)\.default;/g,
    'import $1Module from "$2.js";const $1 = $1Module.default;',
  );
}
