import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import type { Snapshot, SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { GatewaySettings, Route } from '../../crds/types.ts';
import type { CertificateValidity } from '../compile/certificates/certificate-validity.ts';
import type { Compilation, RouteVerdict, SettingsVerdict } from '../compile/compilation.ts';
import { IncrementalCompiler } from '../compile/incremental-compiler.ts';
import { resourceName, type CompileOptions } from '../compile/resources.ts';
import { displayName } from '../validate/resource-id.ts';
import type { LocatedProblem } from './located-problem.ts';
import { ResourceHistory } from './resource-history.ts';
import type { Version, Versions } from './versions.ts';

/** The compiled configuration that serves. */
export interface ServedFiles {
  readonly snapshot: Snapshot;
  readonly routeCount: number;
  /** Names of the MCP routes whose consent pages or callback have the origin of web routes. */
  readonly exposedConsents: readonly string[];
  /**
   * Hosts that discovery for upstreams would have to ask, and may not ask by the settings, by the name of the
   * route.
   */
  readonly unlistedUpstreams: ReadonlyMap<string, string>;
  /** The certificates in use, each once. */
  readonly certificates: readonly CertificateValidity[];
  /** Paths that MCP routes serve without inspection, by the name of the route. */
  readonly uninspectedPaths: ReadonlyMap<string, readonly string[]>;
}

/** Compiles the contents of files, one version after another, with the same compiler as in a cluster. */
export class FileCompiler {
  readonly #compiler;
  readonly #history = new ResourceHistory();
  readonly #resources = new Map<string, SnapshotResource>();
  readonly #routes = new Map<string, RouteVerdict>();
  #settings: SettingsVerdict | undefined;

  constructor(options: CompileOptions) {
    this.#compiler = new IncrementalCompiler(options);
  }

  /** Undefined until usable settings are known. */
  get served(): ServedFiles | undefined {
    if (this.#compiler.obstacle !== undefined) return undefined;
    const snapshot = snapshotOf([...this.#resources.values()]);
    const verdicts = [...this.#routes.values()];
    const exposedConsents = verdicts
      .filter(({ isConsentExposed }) => isConsentExposed === true)
      .map(({ resource }) => resourceName(resource));
    const uninspectedPaths = new Map(
      verdicts.flatMap(({ resource, uninspectedPaths: paths }) =>
        paths === undefined ? [] : [[resourceName(resource), paths] as const],
      ),
    );
    const unlistedUpstreams = new Map(
      verdicts.flatMap(({ resource, upstreamAuth }) =>
        upstreamAuth?.unlistedHost === undefined
          ? []
          : [[resourceName(resource), upstreamAuth.unlistedHost] as const],
      ),
    );
    const { routeCount } = this.#compiler;
    const certificates = certificatesOf([...verdicts, this.#settings]);
    const notes = { exposedConsents, unlistedUpstreams, uninspectedPaths, certificates };
    return { snapshot, routeCount, ...notes };
  }

  /** Whether the newest settings serve, or the defaults if there are none. */
  get isSettingsAccepted(): boolean {
    return this.#settings === undefined || this.#settings.isAccepted;
  }

  /** Compiles the present contents of the files. Returns the problems that the compiler finds. */
  update(versions: Versions): readonly LocatedProblem[] {
    this.#record(this.#compiler.update(this.#history.update(versions)));
    const routes = [...versions.routes].flatMap(([key, version]) =>
      problemsOf(version, this.#routes.get(key)),
    );
    return [...problemsOf(versions.settings, this.#settings), ...routes];
  }

  #record({ put, deleted, routes, settings }: Compilation): void {
    for (const resource of put) this.#resources.set(resource.key, resource);
    for (const key of deleted) this.#resources.delete(key);
    for (const [name, verdict] of routes) {
      if (verdict === undefined) this.#routes.delete(name);
      else this.#routes.set(name, verdict);
    }
    if (settings !== undefined) this.#settings = settings ?? undefined;
  }
}

function certificatesOf(
  verdicts: readonly (RouteVerdict | SettingsVerdict | undefined)[],
): readonly CertificateValidity[] {
  const all = verdicts.flatMap((verdict) => verdict?.certificates ?? []);
  return [...new Map(all.map((one) => [one.secret, one])).values()];
}

/** An unreadable version has problems of its own, which the compiler does not see. */
function problemsOf(
  version: Version<Route | GatewaySettings>,
  verdict: RouteVerdict | SettingsVerdict | undefined,
): readonly LocatedProblem[] {
  if (version.kind === 'unreadable' || verdict === undefined) return [];
  const { id, locate } = version.candidate;
  const resource = id === undefined ? '' : displayName(id);
  return verdict.problems.map((problem) => locate({ ...problem, resource }));
}
