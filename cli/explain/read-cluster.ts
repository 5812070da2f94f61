import { IncrementalCompiler } from '../../controller/compile/incremental-compiler.ts';
import { isOfClass } from '../../controller/compile/is-of-class.ts';
import type { Changes, Compilation } from '../../controller/compile/compilation.ts';
import type { KubernetesApi } from '../../controller/kubernetes/kubernetes-api.ts';
import { parseStoredRoute, parseStoredSettings } from '../../controller/kubernetes/parse-stored.ts';
import {
  GATEWAY_SETTINGS,
  NAMESPACES,
  ROUTES,
} from '../../controller/kubernetes/resource-types.ts';
import type { StoredRoute, StoredSettings } from '../../controller/kubernetes/stored-resources.ts';
import { mergeCompilations } from '../../controller/publish/merge-compilations.ts';
import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import { describeError } from '../../shared/telemetry/describe-error.ts';
import { CommandFailure } from '../command-failure.ts';
import { listAll, listWithinRights } from './list-within-rights.ts';
import { withinRights } from './within-rights.ts';

const TIMEOUT_MS = 30_000;

/** The part of a cluster to read. */
export interface ClusterPart {
  /** The namespace of the Routes; undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly settings: { readonly namespace: string; readonly name: string };
  readonly gatewayClass: string;
  /** Whether tokens of ServiceAccounts may have to be verified. */
  readonly readsIssuer: boolean;
}

/** What serves in a part of a cluster. */
export interface ClusterRoutes {
  readonly snapshot: Snapshot;
  /** What is wrong with Routes, one line each: an earlier generation of them serves, or none. */
  readonly problems: readonly string[];
}

/**
 * Reads the settings of a gateway and the Routes of a namespace or of all, and compiles what serves of them, as a
 * controller does that begins to lead. Services are assumed. No Secret is read: who may do what does not
 * depend on them.
 *
 * Throws `CommandFailure` if something may not be read, or the settings cannot serve.
 */
export async function readCluster(api: KubernetesApi, part: ClusterPart): Promise<ClusterRoutes> {
  const { gatewayClass, settings: place } = part;
  const settings = await readSettings(api, part);
  const routes = await readRoutes(api, part);
  const settingsName = `${place.namespace}/${place.name}`;
  const compiler = new IncrementalCompiler({
    devAllowLoopback: false,
    gatewayClassName: gatewayClass,
    settingsName,
    services: 'assumed',
    secrets: 'assumed',
  });
  const all = { routes, settings, now: Date.now() };
  let compilation = compiler.update(all);
  const further: Changes = {
    ...(compiler.needsNamespaces && { namespaces: await readLabels(api, part) }),
    ...(compiler.needsClusterIssuer &&
      part.readsIssuer && { clusterIssuer: await readIssuer(api) }),
  };
  compilation = mergeCompilations(compilation, compiler.update(further));
  compilation = mergeCompilations(compilation, compiler.adopt(all));
  if (compiler.obstacle !== undefined) {
    throw new CommandFailure([compiler.obstacle, ...problemsOf(compilation)].join('\n'));
  }
  return {
    snapshot: snapshotOf([...compilation.put.values()]),
    problems: problemsOf(compilation),
  };
}

async function readSettings(
  api: KubernetesApi,
  { settings: place, gatewayClass }: ClusterPart,
): Promise<StoredSettings> {
  const object = await withinRights({ verb: 'get', type: GATEWAY_SETTINGS, ...place }, () =>
    api.get(GATEWAY_SETTINGS, place),
  );
  const settings = parseStoredSettings(object);
  if (isOfClass(settings.spec, gatewayClass)) return settings;
  const name = `${place.namespace}/${place.name}`;
  throw new CommandFailure(`GatewaySettings ${name} are not of the class ${gatewayClass}`);
}

async function readRoutes(
  api: KubernetesApi,
  { namespace, gatewayClass }: ClusterPart,
): Promise<ReadonlyMap<string, StoredRoute>> {
  const objects = await listWithinRights(api, ROUTES, namespace);
  const routes = objects.map(parseStoredRoute).filter(({ metadata, spec }) => {
    return metadata.deletionTimestamp === undefined && isOfClass(spec, gatewayClass);
  });
  return new Map(
    routes.map((route) => [`${route.metadata.namespace ?? ''}/${route.metadata.name}`, route]),
  );
}

async function readLabels(
  api: KubernetesApi,
  { namespace: name }: ClusterPart,
): Promise<NonNullable<Changes['namespaces']>> {
  const read = { verb: name === undefined ? 'list' : 'get', type: NAMESPACES } as const;
  const found = await withinRights({ ...read, ...(name !== undefined && { name }) }, async () =>
    name === undefined ? listAll(api, NAMESPACES) : [await api.get(NAMESPACES, { name })],
  );
  return new Map(found.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
}

async function readIssuer(api: KubernetesApi): Promise<NonNullable<Changes['clusterIssuer']>> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return { known: await api.readIssuer(signal) };
  } catch (error) {
    const what = 'cannot read who issues the tokens of ServiceAccounts';
    throw new CommandFailure(`${what}: ${describeError(error)}`, { cause: error });
  }
}

function problemsOf({ routes, settings }: Compilation): readonly string[] {
  const ofRoutes = [...routes].flatMap(([name, verdict]) =>
    (verdict?.problems ?? []).map(({ path, message }) => `Route ${name}: ${path}: ${message}`),
  );
  const ofSettings = settings?.problems ?? [];
  return [
    ...ofSettings.map(({ path, message }) => `GatewaySettings: ${path}: ${message}`),
    ...ofRoutes,
  ];
}
