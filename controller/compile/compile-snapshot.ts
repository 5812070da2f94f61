import type { Route } from '../../crds/types.ts';
import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { Problem } from '../validate/problem.ts';
import { sortProblems } from '../validate/sort-problems.ts';
import { ServiceDirectory } from './backends/service-directory.ts';
import { UNSEEN_SERVICES } from './backends/service-lookup.ts';
import { ServiceTable } from './backends/service-table.ts';
import { compareText } from './compare-text.ts';
import type { StoredRoute } from '../kubernetes/stored-resources.ts';
import { compileSettings } from './compile-settings.ts';
import { defaultParts, NO_SETTINGS } from './default-settings.ts';
import { describeSettings } from './describe-settings.ts';
import type { Labels } from './label-selector.ts';
import { made, type Finding, type Outcome } from './outcome.ts';
import { nameOf, type CompileOptions, type CompileResult, type Resources } from './resources.ts';
import { compileAdmission } from './route-admission.ts';
import { ageOf, type RouteEntry } from './routes/route-entry.ts';
import { RouteTable, type RouteTerms } from './routes/route-table.ts';
import { findingsOf } from './routes/route-verdict.ts';
import { settingsResources } from './settings-resources.ts';
import { signInOf } from './sign-in.ts';

/** The label that Kubernetes gives to every namespace: without a cluster, the only one it has. */
const NAMESPACE_LABEL = 'kubernetes.io/metadata.name';

/**
 * Compiles resources to a snapshot. Pure: equal input, equal output, whatever its order.
 *
 * A resource that is not valid is left out and named in problems; it never blocks another one.
 */
export function compileSnapshot(resources: Resources, options: CompileOptions): CompileResult {
  const { settings, secrets, cluster } = resources;
  const outcome = compileSettings(settings ?? NO_SETTINGS, secrets, options);
  const compiled = outcome.kind === 'made' ? outcome.value : undefined;
  const parts = compiled ?? defaultParts(options);
  const { authenticateAddress } = parts;
  const { devAllowLoopback, takesServicesUnseen = false } = options;
  const signIn = signInOf(settings, compiled);
  const { routes, problems, services } = compileRoutes(resources, {
    context: {
      devAllowLoopback,
      authenticateAddress,
      signIn,
      // Files have one author. In a cluster, the settings say whose routes may serve.
      missingSettings:
        cluster === undefined || settings !== undefined ? undefined : describeSettings(options),
      hasServices: cluster !== undefined || takesServicesUnseen,
    },
    admission: compileAdmission(settings ?? NO_SETTINGS),
  });
  const name = `GatewaySettings ${nameOf(settings ?? NO_SETTINGS)}`;
  const faults = outcome.kind === 'refused' ? outcome.findings : [];
  return {
    snapshot: snapshotOf([
      ...settingsResources(parts),
      ...routes.flatMap(({ serving }) => serving?.resource ?? []),
      ...services,
    ]),
    problems: sortProblems([...problemsOf(name, faults), ...problems]),
    acceptedRoutes: new Set(
      routes.flatMap((route) => (route.serving === undefined ? [] : [route.name])),
    ),
    settingsAccepted: compiled !== undefined,
  };
}

interface CompiledRoutes {
  readonly routes: readonly RouteEntry[];
  readonly services: readonly SnapshotResource[];
  readonly problems: readonly Problem[];
}

function compileRoutes({ routes, cluster }: Resources, terms: RouteTerms): CompiledRoutes {
  const directory = new ServiceDirectory();
  if (cluster !== undefined) directory.apply(cluster);
  const lookup = cluster === undefined ? UNSEEN_SERVICES : directory;
  const labelsOf = (namespace: string): Labels | undefined =>
    cluster === undefined ? { [NAMESPACE_LABEL]: namespace } : cluster.namespaces.get(namespace);
  // They are valid already.
  const read = (route: StoredRoute): Outcome<Route> => made(route as Route);
  const table = new RouteTable({ read, directory: lookup, labelsOf }, terms);
  const services = new ServiceTable(directory);
  const { named, problems } = nameRoutes(routes);
  for (const [name, route] of named) table.put(name, route);
  table.settle();
  const entries = [...table.values()];
  for (const { name, serving } of entries) services.use(name, serving?.resolved.backends ?? []);
  return {
    routes: entries,
    services: [...services.compileChanged().values()].flatMap((service) => service ?? []),
    problems: [
      ...problems,
      ...entries.flatMap((entry) => problemsOf(`Route ${entry.name}`, findingsOf(entry))),
    ],
  };
}

/** Routes by name: of several with one, the oldest. */
function nameRoutes(routes: readonly Route[]): {
  readonly named: ReadonlyMap<string, Route>;
  readonly problems: readonly Problem[];
} {
  const named = new Map<string, Route>();
  const problems: Problem[] = [];
  for (const route of [...routes].sort((a, b) => compareText(ageOf(a), ageOf(b)))) {
    const name = nameOf(route);
    if (named.has(name)) {
      const message = `Route ${name} already has this name`;
      problems.push({
        resource: `Route ${name}`,
        path: 'metadata.name',
        reason: 'HostConflict',
        message,
      });
    } else {
      named.set(name, route);
    }
  }
  return { named, problems };
}

function problemsOf(resource: string, findings: readonly Finding[]): readonly Problem[] {
  return findings.map((finding) => ({ resource, ...finding }));
}
