import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';

import { compileSnapshot } from '../../../controller/compile/compile-snapshot.ts';
import type { CompileResult } from '../../../controller/compile/resources.ts';
import type { Problem } from '../../../controller/validate/problem.ts';
import { validateResource, type Resource } from '../../../controller/validate/validate-resource.ts';
import type { CompiledResource } from '../../../shared/snapshot/snapshot.ts';

const FOLDER = new URL('./', import.meta.url);
const INPUT = '.in.yaml';

/** `*.in.yaml`: manifests, and what they are to show. */
interface GoldenCase {
  readonly description: string;
  readonly devAllowLoopback?: boolean;
  /** What is shown of the snapshot. Only routes, where the settings are the same everywhere. */
  readonly shows?: 'routes' | 'all';
  readonly manifests: readonly unknown[];
}

const CASES = readdirSync(FOLDER)
  .filter((file) => file.endsWith(INPUT))
  .map((file) => {
    const golden = parse(readFileSync(new URL(file, FOLDER), 'utf8')) as GoldenCase;
    return { file: file.slice(0, -INPUT.length), golden, description: golden.description };
  });

describe('manifests compile to what is beside them', () => {
  test.each(CASES)('$file: $description', ({ file, golden }) => {
    const output = new URL(`${file}.out.yaml`, FOLDER);
    const compiled = stringify(compile(golden), { lineWidth: 0, singleQuote: true });
    // Rewritten by `make golden` only: its difference is what to review.
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(output, compiled);

    expect(compiled).toBe(readFileSync(output, 'utf8'));
  });
});

function compile({ manifests, devAllowLoopback = false, shows }: GoldenCase): unknown {
  const validations = manifests.map((manifest, index) =>
    validateResource(manifest, `manifest ${String(index + 1)}`),
  );
  const resources = validations.flatMap((validation) =>
    validation.kind === 'valid' ? [validation.resource] : [],
  );
  const invalid = validations.flatMap((validation) =>
    validation.kind === 'invalid' ? validation.problems : [],
  );
  const golden = goldenOf(invalid, compileResources(resources, devAllowLoopback));
  const isShown = ([key]: readonly [string, unknown]): boolean =>
    shows === 'all' || key.startsWith('route/');
  const snapshot = Object.fromEntries(Object.entries(golden.snapshot).filter(isShown));
  return { ...golden, snapshot };
}

interface Golden {
  readonly problems: readonly string[];
  readonly settingsAccepted: boolean;
  readonly acceptedRoutes: readonly string[];
  readonly snapshot: Readonly<Record<string, CompiledResource>>;
}

function compileResources(
  resources: readonly Resource[],
  devAllowLoopback: boolean,
): CompileResult {
  return compileSnapshot(
    {
      routes: resources.filter((resource) => resource.kind === 'Route'),
      settings: resources.find((resource) => resource.kind === 'GatewaySettings'),
      secrets: new Map(
        resources
          .filter((resource) => resource.kind === 'Secret')
          .map(({ metadata, values }) => [`${metadata.namespace}/${metadata.name}`, values]),
      ),
    },
    { devAllowLoopback },
  );
}

function goldenOf(
  invalid: readonly Problem[],
  { snapshot, problems, acceptedRoutes, settingsAccepted }: CompileResult,
): Golden {
  return {
    problems: [...invalid, ...problems].map(
      ({ resource, path, reason, message }) => `${resource} ${path} ${reason}: ${message}`,
    ),
    settingsAccepted,
    acceptedRoutes: [...acceptedRoutes].sort(),
    snapshot: Object.fromEntries([...snapshot.resources].map(([key, { value }]) => [key, value])),
  };
}
