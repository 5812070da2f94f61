import type { GatewaySettings, Route } from '../../crds/types.ts';
import type { Changes } from '../compile/compilation.ts';
import type { Labels } from '../compile/label-selector.ts';
import type { ConfigMap } from '../validate/config-map.ts';
import type { Secret } from '../validate/secret.ts';
import { ENVIRONMENT_PLACE } from './located-problem.ts';
import { ValueHistory } from './value-history.ts';
import type { Version, Versions } from './versions.ts';

/** The newest generation of a Route or of GatewaySettings. */
interface Generation {
  readonly resource: {
    readonly metadata: {
      readonly name: string;
      readonly namespace: string;
      readonly uid: string;
      readonly creationTimestamp: string;
      readonly generation: number;
    };
    readonly spec: unknown;
  };
  /** The file where the resource was readable last. */
  readonly file: string;
}

type ReadableVersion = Extract<Version<Route | GatewaySettings>, { kind: 'readable' }>;

/** The label that Kubernetes gives to every namespace; namespaces of files have no other. */
const NAMESPACE_LABEL = 'kubernetes.io/metadata.name';

/**
 * Gives resources of files an age, and a generation that rises when the spec changes, like the API
 * server does for resources of a cluster.
 *
 * A resource that became unreadable gets a generation without a spec, which the compiler rejects:
 * the last good version keeps serving.
 */
export class ResourceHistory {
  readonly #routes = new Map<string, Generation>();
  #settings: Generation | undefined;
  readonly #secrets = new ValueHistory<Secret>();
  readonly #configMaps = new ValueHistory<ConfigMap>();
  #round = 0;

  /** Records the present contents of the files. Returns the changes for the compiler. */
  update(versions: Versions): Changes {
    this.#round += 1;
    const routes = this.#updateRoutes(versions);
    this.#settings = nextSettings(this.#settings, versions.settings);
    const secrets = this.#secrets.update(versions.secrets, versions.unreadableFiles);
    const configMaps = this.#configMaps.update(versions.configMaps, versions.unreadableFiles);
    const settings = this.#settings?.resource ?? null;
    return { routes, settings, secrets, configMaps, namespaces: this.#namespaces() };
  }

  #updateRoutes({ routes, unreadableFiles }: Versions): NonNullable<Changes['routes']> {
    const changes = new Map<string, Generation['resource'] | undefined>();
    for (const key of new Set([...this.#routes.keys(), ...routes.keys()])) {
      const before = this.#routes.get(key);
      const version = routes.get(key);
      const isGone = version === undefined && !unreadableFiles.has(before?.file ?? '');
      const now = isGone ? undefined : nextRoute(before, version, this.#round);
      if (now === undefined) this.#routes.delete(key);
      else this.#routes.set(key, now);
      if (now?.resource !== before?.resource) changes.set(key, now?.resource);
    }
    return changes;
  }

  #namespaces(): ReadonlyMap<string, Labels> {
    const generations = [...this.#routes.values(), ...(this.#settings ? [this.#settings] : [])];
    const names = new Set(generations.map(({ resource }) => resource.metadata.namespace));
    return new Map([...names].map((name) => [name, { [NAMESPACE_LABEL]: name }]));
  }
}

/** The history of a route begins with its first readable version. */
function nextRoute(
  before: Generation | undefined,
  version: Version<Route> | undefined,
  round: number,
): Generation | undefined {
  if (version?.kind !== 'readable') return before && withoutSpec(before);
  // Sorts as text, like the times of Kubernetes.
  const creationTimestamp = new Date(round).toISOString();
  return nextGeneration(before, version, { uid: String(round), creationTimestamp });
}

/** Files configure one gateway: its settings are the same resource even if they are renamed. */
const SETTINGS = { uid: 'settings', creationTimestamp: '' };

/** Represents settings without a known readable version. */
const UNKNOWN_SETTINGS: Generation = {
  resource: {
    metadata: { name: 'gatehouse', namespace: 'default', generation: 0, ...SETTINGS },
    spec: undefined,
  },
  file: '',
};

/** Undefined if neither a file nor an environment variable has settings. */
function nextSettings(
  before: Generation | undefined,
  version: Version<GatewaySettings>,
): Generation | undefined {
  if (version.kind === 'unreadable') return withoutSpec(before ?? UNKNOWN_SETTINGS);
  const { candidate, resource } = version;
  const isWritten = candidate.file !== ENVIRONMENT_PLACE || Object.keys(resource.spec).length > 0;
  return isWritten ? nextGeneration(before, version, SETTINGS) : undefined;
}

function nextGeneration(
  before: Generation | undefined,
  { resource: { metadata, spec }, candidate: { file } }: ReadableVersion,
  origin: { readonly uid: string; readonly creationTimestamp: string },
): Generation {
  const { name, namespace = 'default' } = metadata;
  const known = before?.resource.metadata ?? { ...origin, generation: 0 };
  const next = { metadata: { ...known, name, namespace }, spec };
  if (before !== undefined && JSON.stringify(before.resource) === JSON.stringify(next)) {
    return { resource: before.resource, file };
  }
  const generation = known.generation + 1;
  return { resource: { metadata: { ...next.metadata, generation }, spec }, file };
}

function withoutSpec({ resource, file }: Generation): Generation {
  if (resource.spec === undefined) return { resource, file };
  const generation = resource.metadata.generation + 1;
  return { resource: { metadata: { ...resource.metadata, generation }, spec: undefined }, file };
}
