import type { GatewaySettings, Route } from '../../crds/types.ts';
import type { ConfigMap } from '../validate/config-map.ts';
import type { Secret } from '../validate/secret.ts';
import type { Resource } from '../validate/validate-resource.ts';
import type { Candidate, Candidates } from './candidates.ts';

/** The present version of one resource in the files. */
export type Version<R extends Resource> =
  | { readonly kind: 'readable'; readonly resource: R; readonly candidate: Candidate }
  /** A resource of that name exists, but is invalid or ambiguous. */
  | { readonly kind: 'unreadable' };

/** The present contents of the files, with one version of each resource. */
export interface Versions {
  /** By `namespace/name`. */
  readonly routes: ReadonlyMap<string, Version<Route>>;
  /** By `namespace/name`. */
  readonly secrets: ReadonlyMap<string, Version<Secret>>;
  /** By `namespace/name`. */
  readonly configMaps: ReadonlyMap<string, Version<ConfigMap>>;
  readonly settings: Version<GatewaySettings>;
  /** Files with an unreadable part: resources that were in them may still be meant to exist. */
  readonly unreadableFiles: ReadonlySet<string>;
}

const UNREADABLE = { kind: 'unreadable' } as const;

/**
 * Finds the version of each resource. Resources that share a name are unreadable, since it is unknown
 * which one is meant; likewise several GatewaySettings.
 */
export function findVersions({ resources, brokenFiles }: Candidates): Versions {
  const anonymous = resources.filter(({ kind, id }) => kind === undefined || id === undefined);
  const settings = resources.filter(({ kind }) => kind === 'GatewaySettings');
  return {
    routes: versionsByName(resources, 'Route'),
    secrets: versionsByName(resources, 'Secret'),
    configMaps: versionsByName(resources, 'ConfigMap'),
    settings: versionOf(settings, 'GatewaySettings'),
    unreadableFiles: new Set([...brokenFiles.keys(), ...anonymous.map(({ file }) => file)]),
  };
}

function versionsByName<K extends Resource['kind']>(
  resources: readonly Candidate[],
  kind: K,
): ReadonlyMap<string, Version<Extract<Resource, { kind: K }>>> {
  const named = resources.flatMap((candidate) => {
    const { id } = candidate;
    if (id === undefined || candidate.kind !== kind) return [];
    return [{ key: `${id.namespace}/${id.name}`, candidate }];
  });
  const byName = Map.groupBy(named, ({ key }) => key);
  return new Map(
    [...byName].map(([key, group]) => [
      key,
      versionOf(
        group.map(({ candidate }) => candidate),
        kind,
      ),
    ]),
  );
}

function versionOf<K extends Resource['kind']>(
  candidates: readonly Candidate[],
  kind: K,
): Version<Extract<Resource, { kind: K }>> {
  const [candidate] = candidates;
  const resource = candidate?.resource;
  if (candidates.length !== 1 || candidate === undefined || !isOfKind(resource, kind)) {
    return UNREADABLE;
  }
  return { kind: 'readable', resource, candidate };
}

function isOfKind<K extends Resource['kind']>(
  resource: Resource | undefined,
  kind: K,
): resource is Extract<Resource, { kind: K }> {
  return resource?.kind === kind;
}
