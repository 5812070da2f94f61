import type { Changes } from '../../controller/compile/compilation.ts';
import { IncrementalCompiler } from '../../controller/compile/incremental-compiler.ts';
import type { Problem, ResourceProblem } from '../../controller/validate/problem.ts';
import { resourceName, type CompileOptions } from '../../controller/compile/resources.ts';
import { sortProblems } from '../../controller/validate/sort-problems.ts';
import type { GatewaySettings, Route } from '../../crds/types.ts';
import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';

/** Resources that are compiled together. */
export interface ResourceSet {
  readonly routes: readonly Route[];
  /** Undefined if there are no settings. */
  readonly settings: GatewaySettings | undefined;
  readonly secrets?: NonNullable<Changes['secrets']>;
  readonly configMaps?: NonNullable<Changes['configMaps']>;
  /** Absent if there is no cluster, as with files. */
  readonly cluster?: Omit<Changes, 'routes' | 'settings' | 'secrets' | 'configMaps'>;
}

/** The result of compiling a set of resources. */
export interface CompiledOnce {
  readonly snapshot: Snapshot;
  /** Every problem, sorted. */
  readonly problems: readonly ResourceProblem[];
  /** `namespace/name` of the routes in the snapshot. */
  readonly acceptedRoutes: ReadonlySet<string>;
  readonly isSettingsAccepted: boolean;
}

/** Compiles resources with a compiler without history. */
export function compileOnce(
  { routes, settings, secrets = new Map(), configMaps = new Map(), cluster }: ResourceSet,
  options: Partial<CompileOptions> = {},
): CompiledOnce {
  const compiler = new IncrementalCompiler({
    devAllowLoopback: false,
    ...(cluster === undefined && { services: 'none', withoutSettings: 'defaults' }),
    ...options,
  });
  const namespaces = routes.map(({ metadata: { namespace = 'default' } }) => namespace);
  const compilation = compiler.update({
    namespaces: new Map(
      ['default', ...namespaces].map((name) => [name, { 'kubernetes.io/metadata.name': name }]),
    ),
    ...cluster,
    routes: new Map(routes.map((route) => [resourceName(route), route])),
    settings: settings ?? null,
    secrets,
    configMaps,
  });
  const settingsProblems = problemsOf(
    settings && `GatewaySettings ${resourceName(settings)}`,
    compilation.settings?.problems,
  );
  const routeProblems = [...compilation.routes].flatMap(([name, verdict]) =>
    problemsOf(`Route ${name}`, verdict?.problems),
  );
  return {
    snapshot: snapshotOf(compilation.put),
    problems: sortProblems([...settingsProblems, ...routeProblems]),
    acceptedRoutes: new Set(
      [...compilation.routes].flatMap(([name, verdict]) => (verdict?.served ? [name] : [])),
    ),
    isSettingsAccepted: compilation.settings?.isAccepted ?? settings === undefined,
  };
}

function problemsOf(
  resource: string | undefined,
  problems: readonly Problem[] = [],
): readonly ResourceProblem[] {
  return resource === undefined ? [] : problems.map((problem) => ({ resource, ...problem }));
}
