import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';

import type { Changes } from '../../../controller/compile/compilation.ts';
import type { Labels } from '../../../controller/compile/label-selector.ts';
import type { ResourceProblem } from '../../../controller/validate/problem.ts';
import { validateResource, type Resource } from '../../../controller/validate/validate-resource.ts';
import { compileOnce, type CompiledOnce } from '../../support/compile-once.ts';
import type { CompiledResource } from '../../../shared/snapshot/snapshot.ts';

const FOLDER = new URL('./', import.meta.url);
const INPUT = '.in.yaml';
const CLUSTER_KINDS = new Set(['Service', 'EndpointSlice', 'ReferenceGrant', 'Namespace']);

/** `*.in.yaml`: manifests, and the part of the result to show. */
interface GoldenCase {
  readonly description: string;
  readonly devAllowLoopback?: boolean;
  /** The part of the snapshot to show; routes and Services if absent. */
  readonly shows?: 'routes' | 'all';
  /** Kinds such as Service or Namespace are given to a compiler for a cluster. */
  readonly manifests: readonly Manifest[];
}

type Cluster = Omit<Changes, 'routes' | 'settings' | 'secrets' | 'configMaps'>;

interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
  };
}

const CASES = readdirSync(FOLDER)
  .filter((file) => file.endsWith(INPUT))
  .map((file) => {
    const golden = parse(readFileSync(new URL(file, FOLDER), 'utf8')) as GoldenCase;
    return { file: file.slice(0, -INPUT.length), golden, description: golden.description };
  });

describe('manifests compile to the output beside them', () => {
  test.each(CASES)('$file: $description', ({ file, golden }) => {
    const output = new URL(`${file}.out.yaml`, FOLDER);
    const compiled = stringify(compile(golden), { lineWidth: 0, singleQuote: true });
    // Only `make golden` rewrites the output; review its diff.
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(output, compiled);

    expect(compiled).toBe(readFileSync(output, 'utf8'));
  });
});

function compile({ manifests, devAllowLoopback = false, shows }: GoldenCase): unknown {
  const ours = manifests.filter(({ kind }) => !CLUSTER_KINDS.has(kind));
  const validations = ours.map((manifest, index) =>
    validateResource(manifest, `manifest ${String(index + 1)}`),
  );
  const resources = validations.flatMap((validation) =>
    validation.kind === 'valid' ? [validation.resource] : [],
  );
  const invalid = validations.flatMap((validation) =>
    validation.kind === 'invalid' ? validation.problems : [],
  );
  const golden = goldenOf(
    invalid,
    compileResources(resources, { devAllowLoopback, cluster: clusterOf(manifests) }),
  );
  const isShown = ([key]: readonly [string, unknown]): boolean =>
    shows === 'all' || /^(?:route|service)\//.test(key);
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
  { cluster, devAllowLoopback }: { cluster: Cluster | undefined; devAllowLoopback: boolean },
): CompiledOnce {
  return compileOnce(
    {
      routes: resources.filter((resource) => resource.kind === 'Route'),
      settings: resources.find((resource) => resource.kind === 'GatewaySettings'),
      secrets: new Map(
        resources
          .filter((resource) => resource.kind === 'Secret')
          .map(({ metadata, values }) => [`${metadata.namespace}/${metadata.name}`, values]),
      ),
      configMaps: new Map(
        resources
          .filter((resource) => resource.kind === 'ConfigMap')
          .map(({ metadata, values }) => [`${metadata.namespace}/${metadata.name}`, values]),
      ),
      ...(cluster && { cluster }),
    },
    { devAllowLoopback },
  );
}

function clusterOf(manifests: readonly Manifest[]): Cluster | undefined {
  if (!manifests.some(({ kind }) => CLUSTER_KINDS.has(kind))) return undefined;
  const byName = (kind: string): ReadonlyMap<string, Manifest> =>
    new Map(
      manifests
        .filter((manifest) => manifest.kind === kind)
        .map((manifest) => [
          `${String(manifest.metadata.namespace)}/${manifest.metadata.name}`,
          manifest,
        ]),
    );
  return {
    services: byName('Service'),
    endpointSlices: byName('EndpointSlice'),
    referenceGrants: byName('ReferenceGrant'),
    namespaces: new Map(
      [...byName('Namespace').values()].map(({ metadata: { name, labels = {} } }) => [
        name,
        labels,
      ]),
    ),
  };
}

function goldenOf(
  invalid: readonly ResourceProblem[],
  { snapshot, problems, acceptedRoutes, isSettingsAccepted }: CompiledOnce,
): Golden {
  return {
    problems: [...invalid, ...problems].map(
      ({ resource, path, reason, message }) => `${resource} ${path} ${reason}: ${message}`,
    ),
    settingsAccepted: isSettingsAccepted,
    acceptedRoutes: [...acceptedRoutes].sort(),
    snapshot: Object.fromEntries([...snapshot.resources].map(([key, { value }]) => [key, value])),
  };
}
