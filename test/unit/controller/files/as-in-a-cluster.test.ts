import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { readCandidates } from '../../../../controller/files/candidates.ts';
import { FileConfiguration } from '../../../../controller/files/file-configuration.ts';
import { validateResource } from '../../../../controller/validate/validate-resource.ts';
import type { SnapshotResource } from '../../../../shared/snapshot/snapshot.ts';
import { CompilerCluster, settingsSpec } from '../../../support/compiler-cluster.ts';
import { contentsOf } from './contents-of.ts';

const RUNS = 300;
const API_VERSION = 'gatehouse.dev/v1alpha1';
const NAMES = ['x/a', 'x/b', 'x/c', 'y/a', 'y/b'];
const HOSTS = ['a.example.com', 'b.example.com', 'c.example.com'];
/** Text that is not YAML. */
const BROKEN = Symbol('broken');

/** A change of files, or of the same resources in a cluster. */
type Edit =
  | { readonly kind: 'put'; readonly specs: Readonly<Record<string, object | typeof BROKEN>> }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'settings'; readonly spec: object | typeof BROKEN };

const anyGoodSpec = fc
  .record({
    host: fc.constantFrom(...HOSTS),
    prefix: fc.constantFrom('/', '/x'),
    access: fc.constantFrom<object>(
      { allowPublicUnauthenticatedAccess: true },
      { allowAnyAuthenticatedUser: true },
    ),
    to: fc.constantFrom('http://one', 'http://two'),
  })
  .map(({ host, access, ...rest }) => ({ from: `https://${host}`, ...access, ...rest }));

const anySpec = fc.oneof(
  { weight: 6, arbitrary: anyGoodSpec },
  // The schema accepts this, and the compiler does not.
  anyGoodSpec.map((spec) => ({ ...spec, prefix: undefined, regex: '(?=a)' })),
  // The schema does not accept this.
  anyGoodSpec.map((spec) => ({ ...spec, hat: 1 })),
  fc.constant(BROKEN),
);

const anySettings = fc.constantFrom<object | typeof BROKEN>(
  settingsSpec(),
  settingsSpec({ sharedHosts: HOSTS.slice(0, 1) }),
  settingsSpec({ authenticateUrl: 'https://c.example.com' }),
  settingsSpec({ allowedRoutes: { namespaces: { from: 'Same' } } }),
  {},
  settingsSpec({ cookie: { expiration: '1500ms' } }),
  settingsSpec({ cookie: { expiration: 'soon' } }),
  BROKEN,
);

const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      specs: fc.dictionary(fc.constantFrom(...NAMES), anySpec, { minKeys: 1, maxKeys: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('remove' as const),
      name: fc.constantFrom(...NAMES),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('settings' as const), spec: anySettings }),
  },
);

describe('any history of edits', () => {
  test('serves the same from files as in a cluster, after every edit', () => {
    fc.assert(
      fc.property(fc.array(anyEdit, { maxLength: 20 }), (edits) => {
        const files = new EditedFiles();
        const cluster = new EditedCluster();
        for (const edit of [{ kind: 'settings', spec: settingsSpec() } as const, ...edits]) {
          expect(hashesOf(files.apply(edit))).toEqual(hashesOf(cluster.apply(edit)));
        }
      }),
      { numRuns: RUNS },
    );
  });
});

/** Files of one resource each. */
class EditedFiles {
  readonly #texts = new Map<string, string>();
  readonly #configuration = new FileConfiguration({ devAllowLoopback: false, services: 'none' });

  apply(edit: Edit): ReadonlyMap<string, SnapshotResource> {
    switch (edit.kind) {
      case 'put':
        for (const [name, spec] of Object.entries(edit.specs)) this.#write('Route', name, spec);
        break;
      case 'remove':
        this.#texts.delete(`Route ${edit.name}`);
        break;
      case 'settings':
        this.#write('GatewaySettings', 'x/gatehouse', edit.spec);
    }
    const contents = contentsOf(Object.fromEntries(this.#texts));
    const { served } = this.#configuration.update(readCandidates(contents, []));
    return served?.snapshot.resources ?? new Map();
  }

  #write(kind: string, name: string, spec: object | typeof BROKEN): void {
    const text = spec === BROKEN ? '{' : JSON.stringify(manifestOf(kind, name, spec));
    this.#texts.set(`${kind} ${name}`, text);
  }
}

/** A cluster whose API server stores what cannot be read as an empty spec. */
class EditedCluster {
  readonly #cluster = new CompilerCluster();
  readonly #created = new Set<string>();

  apply(edit: Edit): ReadonlyMap<string, SnapshotResource> {
    switch (edit.kind) {
      case 'put':
        this.#put(edit.specs);
        break;
      case 'remove':
        this.#created.delete(edit.name);
        this.#cluster.delete(edit.name);
        break;
      case 'settings':
        this.#cluster.putSettings(edit.spec === BROKEN ? undefined : edit.spec, 'x/gatehouse');
    }
    return this.#cluster.snapshot;
  }

  /** An API server creates no invalid route. */
  #put(specs: Readonly<Record<string, object | typeof BROKEN>>): void {
    const stored = Object.entries(specs)
      .filter(([name, spec]) => this.#created.has(name) || isValid(name, spec))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, spec]) => [name, spec === BROKEN ? undefined : spec] as const);
    for (const [name] of stored) this.#created.add(name);
    this.#cluster.put(Object.fromEntries(stored));
  }
}

function isValid(name: string, spec: object | typeof BROKEN): boolean {
  if (spec === BROKEN) return false;
  // As in a file: without members that are undefined.
  const manifest: unknown = JSON.parse(JSON.stringify(manifestOf('Route', name, spec)));
  return validateResource(manifest, name).kind === 'valid';
}

function manifestOf(kind: string, key: string, spec: object): object {
  const [namespace, name] = key.split('/');
  return { apiVersion: API_VERSION, kind, metadata: { namespace, name }, spec };
}

function hashesOf(
  resources: ReadonlyMap<string, SnapshotResource>,
): Readonly<Record<string, string>> {
  return Object.fromEntries([...resources].map(([key, { hash }]) => [key, hash]));
}
