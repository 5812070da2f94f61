import { routeKey } from '../../shared/snapshot/resource-key.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { StoredRoute } from '../kubernetes/stored-resources.ts';
import { setOrDelete } from './grouped-map.ts';
import { ServiceDirectory } from './backends/service-directory.ts';
import { ASSUMED_SERVICES } from './backends/service-lookup.ts';
import { ServiceTable } from './backends/service-table.ts';
import type {
  Changes,
  Compilation,
  IncrementalCompiler,
  RouteVerdict,
  SettingsVerdict,
} from './compilation.ts';
import { defaultParts } from './default-settings.ts';
import { describeSettings } from './describe-settings.ts';
import { Differences } from './differences.ts';
import type { Labels } from './label-selector.ts';
import { isOfClass, readStored } from './read-stored.ts';
import { namespaceOf, type CompileOptions } from './resources.ts';
import { ADMIT_ALL, compileAdmission } from './route-admission.ts';
import { readPrior, type Prior } from './routes/read-prior.ts';
import { RouteTable, type RouteTerms } from './routes/route-table.ts';
import { verdictOf } from './routes/route-verdict.ts';
import { SettingsKeeper, type ServedSettings } from './settings-keeper.ts';
import { settingsResources } from './settings-resources.ts';
import { signInOf } from './sign-in.ts';

/** Makes a compiler that knows of nothing yet. */
export function createIncrementalCompiler(options: CompileOptions): IncrementalCompiler {
  return new RememberingCompiler(options);
}

class RememberingCompiler implements IncrementalCompiler {
  readonly #options: CompileOptions;
  readonly #settings: SettingsKeeper;
  readonly #secrets = new Map<string, ReadonlyMap<string, Buffer>>();
  readonly #namespaces = new Map<string, Labels>();
  readonly #directory = new ServiceDirectory();
  readonly #services = new ServiceTable(this.#directory);
  readonly #routes: RouteTable;
  readonly #serving = new Set<string>();
  readonly #resources = new Differences<SnapshotResource>(({ hash }) => hash);
  readonly #verdicts = new Differences<RouteVerdict>(markOf);
  readonly #settingsVerdict = new Differences<SettingsVerdict>(markOf);
  /** What the routes were settled with last; undefined before they were. */
  #applied: Applied | undefined;

  constructor(options: CompileOptions) {
    this.#options = options;
    this.#settings = new SettingsKeeper(options);
    this.#routes = new RouteTable(
      {
        read: ({ metadata, spec }) =>
          readStored('Route', { namespace: namespaceOf({ metadata }), name: metadata.name, spec }),
        directory: options.services === 'assumed' ? ASSUMED_SERVICES : this.#directory,
        labelsOf: (namespace) => this.#namespaces.get(namespace),
      },
      this.#terms(),
    );
  }

  get obstacle(): string | undefined {
    return this.#settings.obstacle;
  }

  get routeCount(): number {
    return this.#serving.size;
  }

  get secretNames(): ReadonlySet<string> {
    return this.#settings.secretNames;
  }

  get needsNamespaces(): boolean {
    const { served } = this.#settings;
    return served !== undefined && compileAdmission(served.settings).namespaces.from === 'Selector';
  }

  get compilations(): number {
    return this.#routes.compilations;
  }

  get decisions(): number {
    return this.#routes.decisions;
  }

  update(changes: Changes): Compilation {
    this.#takeSettings(changes);
    this.#takeCluster(changes);
    if (!this.#isHeld) this.#applySettings();
    for (const [name, route] of changes.routes ?? []) this.#takeRoute(name, route);
    return this.#conclude();
  }

  adopt({ routes, settings }: Pick<Changes, 'routes' | 'settings'>): Compilation {
    if (settings !== undefined && settings !== null) {
      this.#settings.adopt(settings, this.#secrets);
    }
    if (!this.#isHeld) this.#applySettings();
    const priors = new Map<string, Prior>();
    for (const [name, route] of routes ?? []) {
      const resource = this.#takeRoute(name, route);
      if (resource) priors.set(name, readPrior(resource, this.#options.gatewayClassName));
    }
    this.#routes.adopt(priors);
    return this.#conclude();
  }

  /**
   * Without the settings nobody knows which routes may serve, nor whose a host is, and where they
   * select namespaces, nobody does without the labels. A cluster always has a namespace.
   */
  get #isHeld(): boolean {
    return this.obstacle !== undefined || this.#awaitsLabels;
  }

  get #awaitsLabels(): boolean {
    return this.needsNamespaces && this.#namespaces.size === 0;
  }

  #conclude(): Compilation {
    if (!this.#isHeld) this.#settle();
    if (!this.#awaitsLabels) this.#settingsVerdict.set(SETTINGS, this.#judgeSettings());
    return this.#report();
  }

  #takeSettings({ settings, secrets = new Map() }: Changes): void {
    for (const [name, values] of secrets) setOrDelete(this.#secrets, name, values);
    if (settings !== undefined) {
      this.#settings.put(settings ?? undefined, this.#secrets);
    }
    const { secretNames } = this;
    if ([...secrets.keys()].some((name) => secretNames.has(name))) {
      this.#settings.compile(this.#secrets);
    }
  }

  #takeCluster({ namespaces = new Map(), ...changes }: Changes): void {
    for (const [name, labels] of namespaces) setOrDelete(this.#namespaces, name, labels);
    this.#routes.admitAgain(namespaces.keys());
    const { services, targets, permissions } = this.#directory.apply(changes);
    this.#routes.resolveAgain({ services, permissions });
    this.#services.invalidate([...services, ...targets]);
  }

  /** Answers with it, when it is one of ours. */
  #takeRoute(name: string, resource: StoredRoute | undefined): StoredRoute | undefined {
    const { gatewayClassName } = this.#options;
    if (resource === undefined || !isOfClass(resource.spec, gatewayClassName)) {
      this.#routes.delete(name);
      return undefined;
    }
    this.#routes.put(name, resource, readPrior(resource, gatewayClassName));
    return resource;
  }

  #applySettings(): void {
    const { served } = this.#settings;
    if (this.#applied !== undefined && served === this.#applied.served) return;
    const resources = settingsResources(served?.parts ?? defaultParts(this.#options));
    for (const { key } of this.#applied?.resources ?? []) this.#resources.set(key, undefined);
    for (const resource of resources) this.#resources.set(resource.key, resource);
    this.#routes.setTerms(this.#terms());
    this.#applied = { served, resources };
  }

  #settle(): void {
    for (const name of this.#routes.settle()) this.#takeSettled(name);
    for (const [key, resource] of this.#services.compileChanged()) {
      this.#resources.set(key, resource);
    }
  }

  #takeSettled(name: string): void {
    const entry = this.#routes.get(name);
    const serving = entry?.serving;
    if (serving === undefined) this.#serving.delete(name);
    else this.#serving.add(name);
    this.#resources.set(routeKey(name), serving?.resource);
    this.#services.use(name, serving?.resolved.backends ?? []);
    this.#verdicts.set(name, entry && verdictOf(entry, this.#routes.keptBy(entry)));
  }

  #terms(): RouteTerms {
    const { served } = this.#settings;
    const { devAllowLoopback, services } = this.#options;
    const { authenticateAddress } = served?.parts ?? defaultParts(this.#options);
    const signIn = signInOf(served);
    return {
      context: {
        devAllowLoopback,
        authenticateAddress,
        signIn,
        missingSettings: served === undefined ? describeSettings(this.#options) : undefined,
        hasServices: services !== 'none',
      },
      admission: served === undefined ? ADMIT_ALL : compileAdmission(served.settings),
    };
  }

  #judgeSettings(): SettingsVerdict | undefined {
    const { resource, served, isAccepted, problems: problems } = this.#settings;
    if (resource === undefined) return undefined;
    const { resources = [] } = this.#applied ?? {};
    const [first] = resources;
    return {
      resource,
      isAccepted,
      problems: problems,
      ...(served !== undefined &&
        first !== undefined && {
          served: {
            generation: served.generation,
            spec: served.settings.spec,
            key: first.key,
            hash: first.hash,
          },
        }),
      keys: served === undefined ? [] : resources.map(({ key }) => key),
      attachedRoutes: this.routeCount,
    };
  }

  #report(): Compilation {
    const settings = this.#settingsVerdict.report();
    const resources = [...this.#resources.report()];
    return {
      put: resources.flatMap(([, resource]) => resource ?? []),
      deleted: resources.flatMap(([key, resource]) => (resource === undefined ? [key] : [])),
      routes: this.#verdicts.report(),
      ...(settings.has(SETTINGS) && { settings: settings.get(SETTINGS) ?? null }),
    };
  }
}

interface Applied {
  readonly served: ServedSettings | undefined;
  readonly resources: readonly SnapshotResource[];
}

const SETTINGS = 'settings';

/** Equal for verdicts that a status tells in the same way. Equal generations have equal specs. */
function markOf({ resource, served, ...rest }: RouteVerdict | SettingsVerdict): string {
  const { uid, generation } = resource.metadata;
  return JSON.stringify([uid, generation, served?.generation, served?.hash, rest]);
}
