import type {
  Changes,
  Compilation,
  RouteVerdict,
  SettingsVerdict,
} from '../../controller/compile/compilation.ts';
import { compileRoute } from '../../controller/compile/compile-route.ts';
import { IncrementalCompiler } from '../../controller/compile/incremental-compiler.ts';
import type { CompileOptions } from '../../controller/compile/resources.ts';
import type { HostOwner } from '../../controller/compile/routes/host-holds.ts';
import { parseRouteStatus, parseSettingsStatus } from '../../controller/kubernetes/parse-status.ts';
import type {
  RouteStatus,
  StoredResource,
  StoredRoute,
  StoredSettings,
} from '../../controller/kubernetes/stored-resources.ts';
import { routeStatus } from '../../controller/status/route-status.ts';
import type { GatewaySettings, Route } from '../../crds/types.ts';
import type { CompiledRoute, SnapshotResource } from '../../shared/snapshot/snapshot.ts';

const OPTIONS: CompileOptions = { devAllowLoopback: false, gatewayClassName: 'gatehouse' };

/**
 * Stands for the API server and the status writer of an incremental compiler: counts generations, gives
 * objects their age, and stores the statuses for the next compiler.
 */
export class CompilerCluster {
  readonly #routes = new Map<string, StoredRoute>();
  readonly #snapshot = new Map<string, SnapshotResource>();
  readonly #verdicts = new Map<string, RouteVerdict>();
  readonly #statuses = new Map<string, RouteStatus>();
  readonly #others: Changes[] = [];
  #settings: StoredSettings | undefined;
  #settingsVerdict: SettingsVerdict | undefined;
  readonly #hosts = new Map<string, HostOwner>();
  #clock = 0;
  #compilations = 0;
  readonly #options: CompileOptions;
  #compiler: IncrementalCompiler;

  constructor(options: Partial<CompileOptions> = {}) {
    this.#options = { ...OPTIONS, ...options };
    this.#compiler = this.#newCompiler();
  }

  /** How often a route was compiled. */
  get compilations(): number {
    return this.#compilations;
  }

  get compiler(): IncrementalCompiler {
    return this.#compiler;
  }

  /** What was published, by key. */
  get snapshot(): ReadonlyMap<string, SnapshotResource> {
    return this.#snapshot;
  }

  get settingsVerdict(): SettingsVerdict | undefined {
    return this.#settingsVerdict;
  }

  get verdicts(): ReadonlyMap<string, RouteVerdict> {
    return this.#verdicts;
  }

  /** Creates routes, or updates their `spec`: one change for all of them. */
  put(specs: Readonly<Record<string, unknown>>): Compilation {
    const stored = Object.entries(specs).map(([name, spec]) => {
      const route = this.#store(name, this.#routes.get(name), spec);
      this.#routes.set(name, route);
      return [name, route] as const;
    });
    return this.update({ routes: new Map(stored) });
  }

  delete(...names: readonly string[]): Compilation {
    for (const name of names) this.#routes.delete(name);
    return this.update({ routes: new Map(names.map((name) => [name, undefined])) });
  }

  /** Null deletes them. */
  putSettings(spec: unknown, name = 'gatehouse/gatehouse'): Compilation {
    if (spec === null) {
      this.#settings = undefined;
      return this.update({ settings: null });
    }
    this.#settings = this.#store(name, this.#settings, spec);
    return this.update({ settings: this.#settings });
  }

  /** Compiles changes of other objects. */
  change(changes: Changes): Compilation {
    this.#others.push(changes);
    return this.update(changes);
  }

  /** Compiles changes, and publishes the result. */
  update(changes: Changes): Compilation {
    const compilation = this.#compiler.update(changes);
    this.#take(compilation);
    return compilation;
  }

  /** Returns the status of a route. */
  status(name: string): RouteStatus | undefined {
    return this.#statuses.get(name);
  }

  /** The stored route, with the status that its verdict gives it. */
  stored(name: string): StoredRoute {
    const route = this.#routes.get(name);
    if (route === undefined) throw new Error(`there is no Route ${name}`);
    const status = this.status(name);
    return { ...route, ...(status && { status }) };
  }

  /** The stored settings, with their status. */
  storedSettings(): StoredSettings | undefined {
    const verdict = this.#settingsVerdict;
    const isOlder = verdict?.served !== undefined && !verdict.isAccepted;
    const status = isOlder ? parseSettingsStatus({ served: verdict.served }) : undefined;
    return this.#settings && { ...this.#settings, ...(status && { status }) };
  }

  /** Another controller takes over, which knows only what the API server stores. */
  takeOver(change: (route: StoredRoute) => StoredRoute = (route) => route): readonly Compilation[] {
    const names = [...this.#routes.keys()];
    const routes = names.map((name) => [name, change(this.stored(name))] as const);
    this.#compiler = this.#newCompiler();
    const changes = { routes: new Map(routes), settings: this.storedSettings() ?? null };
    const { namespaces, ...others } = mergeChanges(this.#others);
    const compilations = [this.#compiler.update({ ...others, ...changes })];
    // Namespaces are read only if the settings select by their labels.
    if (this.#compiler.needsNamespaces && namespaces) {
      compilations.push(this.#compiler.update({ namespaces }));
    }
    // A new leader publishes everything it has, if it may.
    if (this.#compiler.obstacle === undefined) this.#snapshot.clear();
    for (const compilation of compilations) this.#take(compilation);
    return compilations;
  }

  /** The snapshot resources of routes, by `namespace/name`. */
  get routes(): Readonly<Record<string, CompiledRoute>> {
    return Object.fromEntries(
      [...this.#snapshot.values()].flatMap(({ value }) =>
        value.kind === 'route' ? [[value.name, value]] : [],
      ),
    );
  }

  /** The upstream of each route. */
  get upstreams(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      Object.entries(this.routes).map(([name, { upstream }]) => [name, upstream]),
    );
  }

  /** The reasons of the problems of a route's newest generation. */
  reasons(name: string): readonly string[] {
    return this.#verdicts.get(name)?.problems.map(({ reason }) => reason) ?? [];
  }

  /** The owners of hosts that the next controller reads. */
  get hosts(): ReadonlyMap<string, HostOwner> {
    return this.#hosts;
  }

  #take({ put, deleted, routes, settings, hosts }: Compilation): void {
    for (const [host, owner] of hosts) {
      if (owner === undefined) this.#hosts.delete(host);
      else this.#hosts.set(host, owner);
    }
    for (const resource of put) this.#snapshot.set(resource.key, resource);
    for (const key of deleted) this.#snapshot.delete(key);
    for (const [name, verdict] of routes) {
      if (verdict === undefined) {
        this.#verdicts.delete(name);
        this.#statuses.delete(name);
      } else {
        this.#verdicts.set(name, verdict);
        this.#statuses.set(name, statusOf(verdict, this.#statuses.get(name)));
      }
    }
    if (settings !== undefined) this.#settingsVerdict = settings ?? undefined;
  }

  #store<S>(name: string, before: StoredResource<S> | undefined, spec: unknown): StoredResource<S> {
    const [namespace = '', shortName = ''] = name.split('/');
    if (before !== undefined) {
      const generation = (before.metadata.generation ?? 0) + 1;
      return { ...before, metadata: { ...before.metadata, generation }, spec };
    }
    this.#clock += 1;
    const metadata = {
      namespace,
      name: shortName,
      uid: `uid-${String(this.#clock)}`,
      generation: 1,
      creationTimestamp: new Date(this.#clock * 1000).toISOString().replace('.000', ''),
    };
    return { metadata, spec };
  }

  #newCompiler(): IncrementalCompiler {
    return new IncrementalCompiler(this.#options, (route, context) => {
      this.#compilations += 1;
      return compileRoute(route, context);
    });
  }
}

function statusOf(verdict: RouteVerdict, current: RouteStatus | undefined): RouteStatus {
  const published = {
    ...{ rollout: undefined, obstacle: undefined },
    upstreamAuth: { found: undefined, since: undefined },
  };
  const gatewayClass = OPTIONS.gatewayClassName ?? 'gatehouse';
  return routeStatus({ ...published, gatewayClass, verdict, current, now: new Date(0) });
}

function mergeChanges(all: readonly Changes[]): Changes {
  const merged: Record<string, Map<string, unknown>> = {};
  for (const changes of all) {
    for (const [kind, map] of Object.entries(changes)) {
      merged[kind] = new Map([...(merged[kind] ?? []), ...(map as Map<string, unknown>)]);
    }
  }
  return merged;
}

/** The Route with any stored value as its status; undefined: without status. */
export function withStatus({ metadata, spec }: StoredRoute, stored: unknown): StoredRoute {
  const status = parseRouteStatus(stored);
  return { metadata, spec, ...(status && { status }) };
}

/** A valid spec of a public route. */
export function publicSpec(from: string, change: object = {}): Route['spec'] {
  return { from, to: 'http://up:8080', allowPublicUnauthenticatedAccess: true, ...change };
}

/** A valid spec of settings with an identity provider. */
export function settingsSpec(change: object = {}): GatewaySettings['spec'] {
  const provider = { name: 'idp', issuerUrl: 'https://idp.example.com', clientId: 'gatehouse' };
  return { identityProviders: [provider], ...change };
}

/** Creates a cluster with settings, without which nothing serves. */
export function startedCluster(): CompilerCluster {
  const cluster = new CompilerCluster();
  cluster.putSettings(settingsSpec());
  return cluster;
}
