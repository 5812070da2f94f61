import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parse, stringify } from 'yaml';

import { CHART } from './release.ts';

/** The part of the definition of Routes that an older release did not have. */
interface RouteDefinition {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: {
        readonly openAPIV3Schema: {
          readonly properties: { readonly spec: { readonly properties: { timeouts?: object } } };
        };
      };
    }[];
  };
}

/** Writes the chart of a release whose Routes had no `timeouts` yet, and returns its directory. */
export async function writeOlderChart(directory: string): Promise<string> {
  const chart = join(directory, 'older-chart');
  await cp(CHART, chart, { recursive: true });
  const file = join(chart, 'files/crds/routes.yaml');
  const definition = parse(await readFile(file, 'utf8')) as RouteDefinition;
  for (const { schema } of definition.spec.versions) {
    delete schema.openAPIV3Schema.properties.spec.properties.timeouts;
  }
  await writeFile(file, stringify(definition));
  return chart;
}
