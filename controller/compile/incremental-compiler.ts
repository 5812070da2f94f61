import { routeKey, SETTINGS_KEY } from '../../shared/snapshot/resource-key.ts';
import type { StoredRoute } from '../kubernetes/stored-resources.ts';
import { UsedCertificates } from './certificates/used-certificates.ts';
import { secretNamesOf } from './certificates/certificate-validity.ts';
import { setOrDelete } from './grouped-map.ts';
import { ServiceDirectory } from './backends/service-directory.ts';
import { ASSUMED_SERVICES } from './backends/service-lookup.ts';
import { ServiceTable } from './backends/service-table.ts';
import type { Changes, Compilation } from './compilation.ts';
import { CompilationReport } from './compilation-report.ts';
import { ConsentExposure } from './consent-exposure.ts';
import { compileRoute } from './compile-route.ts';
import { defaultOutput } from './default-settings.ts';
import { describeSettings } from './describe-settings.ts';
import { providerFacts } from './identity-providers/bearer-token-format.ts';
import type { KnownClusterIssuer } from './identity-providers/cluster-issuer-provider.ts';
import { signInOf } from './identity-providers/sign-in-availability.ts';
import type { Labels } from './label-selector.ts';
import { isOfClass } from './is-of-class.ts';
import { readStored } from './read-stored.ts';
import { Referables } from './referables.ts';
import { namespaceOf, type CompileOptions } from './resources.ts';
import { ADMIT_ALL, compileAdmission } from './route-admission.ts';
import type { HostOwner } from './routes/host-holds.ts';
import { readPrior, type Prior } from './routes/read-prior.ts';
import { RouteTable, type RouteTableOptions, type RouteTerms } from './routes/route-table.ts';
import { verdictOf } from './routes/route-verdict.ts';
import { SettingsKeeper, type ServedSettings } from './settings-keeper.ts';
import { settingsResources, type SettingsResources } from './settings-resources.ts';
import { assumesCertificates } from './with-present-references.ts';
import { settingsVerdict } from './settings-verdict.ts';

/** The settings that the routes were compiled with last. */
interface AppliedSettings extends SettingsResources {
  readonly served: ServedSettings | undefined;
  readonly clusterIssuer: KnownClusterIssuer;
}

/**
 * Compiles the changes of a configuration. The cost of a change does not depend on the number of
 * routes that it does not affect.
 *
 * The result is a function of the changes so far, without clock or network. Their order matters only in
 * two ways: while the newest generation of a resource is not accepted, the last good one serves; and a
 * host stays with its namespace while any admitted route there asks for it, or no other route does.
 * Another process reads both from the statuses, and the hosts that are held from their record.
 */
export class IncrementalCompiler {
  readonly #options: CompileOptions;
  readonly #settings: SettingsKeeper;
  readonly #referables = new Referables();
  readonly #namespaces = new Map<string, Labels>();
  readonly #directory = new ServiceDirectory();
  readonly #services = new ServiceTable(this.#directory);
  readonly #certificates = new UsedCertificates(this.#referables.certificates);
  readonly #routes: RouteTable;
  readonly #serving = new Set<string>();
  readonly #consent = new ConsentExposure();
  readonly #report = new CompilationReport();
  #clusterIssuer: KnownClusterIssuer;
  /** Undefined before anything was compiled. */
  #applied: AppliedSettings | undefined;

  /** `compile` compiles one route, and is called once for each change of it or of its settings. */
  constructor(options: CompileOptions, compile: RouteTableOptions['compileRoute'] = compileRoute) {
    this.#options = options;
    this.#clusterIssuer = options.services === 'assumed' ? 'assumed' : {};
    this.#settings = new SettingsKeeper(options);
    const directory = options.services === 'assumed' ? ASSUMED_SERVICES : this.#directory;
    this.#routes = new RouteTable(
      {
        read: ({ metadata, spec }) => {
          const { name, uid } = metadata;
          return readStored('Route', { namespace: namespaceOf({ metadata }), name, uid, spec });
        },
        compileRoute: compile,
        secrets: {
          known: this.#referables.secrets,
          areAssumed: options.secrets === 'assumed',
          certificatesAreAssumed: assumesCertificates(options),
          certificates: this.#referables.certificates,
          services: directory,
        },
        directory,
        labelsOf: (namespace) => this.#namespaces.get(namespace),
        onHost: (host, record) => this.#report.setHost(host, record),
      },
      this.#terms(),
    );
  }

  /**
   * The reason why nothing may be published: the settings cannot be used, and no earlier generation of
   * them is known. Publishing without settings would remove every route.
   */
  get obstacle(): string | undefined {
    return this.#settings.obstacle;
  }

  /** The number of routes in the snapshot. */
  get routeCount(): number {
    return this.#serving.size;
  }

  /** `namespace/name` of the Secrets of settings and routes, of serving and of newest generations. */
  get secretNames(): ReadonlySet<string> {
    return new Set([...this.#settings.secretNames, ...this.#routes.secretNames]);
  }

  /** `namespace/name` of the ConfigMaps of the settings, of the serving and of the newest generation. */
  get configMapNames(): ReadonlySet<string> {
    return this.#settings.configMapNames;
  }

  /**
   * Whether routes are admitted by labels of namespaces. Before a namespace is known, nothing is then
   * compiled, and no verdict on the settings is reported.
   */
  get needsNamespaces(): boolean {
    const { served } = this.#settings;
    return served !== undefined && compileAdmission(served.settings).namespaces.from === 'Selector';
  }

  /** Whether the settings have the cluster as an identity provider. */
  get needsClusterIssuer(): boolean {
    return this.#settings.needsClusterIssuer;
  }

  /** When the next host stops being held, by the wall clock; undefined if no host is held. */
  get nextExpiry(): number | undefined {
    return this.#routes.hosts.nextExpiry;
  }

  /** Namespaces that hosts are held for. */
  get holders(): ReadonlySet<string> {
    return this.#routes.hosts.holders;
  }

  /** Compiles changes. */
  update(changes: Changes): Compilation {
    this.#updateHolds(changes);
    this.#updateSettings(changes);
    this.#clusterIssuer = changes.clusterIssuer ?? this.#clusterIssuer;
    this.#updateCluster(changes);
    if (!this.#isHeld) this.#applySettings();
    for (const [name, route] of changes.routes ?? []) this.#putRoute(name, route);
    return this.#conclude();
  }

  /**
   * Takes over from another process, given the newest settings and all routes with their statuses.
   * Newer serving generations and owners of hosts in the statuses replace those found here, since the
   * proxies have them from the other process.
   */
  adopt(
    { routes, settings, now }: Pick<Changes, 'routes' | 'settings' | 'now'>,
    hosts: ReadonlyMap<string, HostOwner> = new Map(),
  ): Compilation {
    this.#updateHolds({ ...(now !== undefined && { now }) });
    if (settings !== undefined && settings !== null) {
      this.#settings.adopt(settings, this.#referables);
    }
    if (!this.#isHeld) this.#applySettings();
    const priors = new Map<string, Prior>();
    for (const [name, route] of routes ?? []) {
      const resource = this.#putRoute(name, route);
      if (resource) priors.set(name, readPrior(resource, this.#options.gatewayClassName));
    }
    this.#routes.adopt(priors);
    this.#routes.hosts.adoptHosts(hosts);
    return this.#conclude();
  }

  /**
   * Whether nothing is compiled. Without settings it is unknown which routes may serve and who owns a
   * host; likewise without labels of namespaces if the settings select by them.
   */
  get #isHeld(): boolean {
    return this.obstacle !== undefined || this.#awaitsLabels;
  }

  get #awaitsLabels(): boolean {
    return this.needsNamespaces && this.#namespaces.size === 0;
  }

  #conclude(): Compilation {
    if (!this.#isHeld) this.#compileChanged();
    if (!this.#awaitsLabels)
      this.#report.setSettings(settingsVerdict(this.#settings, this.#applied, this.routeCount));
    return this.#report.report();
  }

  #updateHolds({ now, releasedHosts = [], endedNamespaces = new Set() }: Changes): void {
    const { hosts } = this.#routes;
    if (now !== undefined) hosts.setTime(now);
    hosts.release(releasedHosts);
    if (endedNamespaces.size > 0) hosts.releaseNamespaces(endedNamespaces);
  }

  #updateSettings(changes: Changes): void {
    const { settings } = changes;
    const changed = this.#referables.apply(changes);
    if (settings !== undefined) this.#settings.put(settings ?? undefined, this.#referables);
    this.#routes.resolveSecrets(changed.secretNames);
    this.#certificates.invalidate(changed.secretNames);
    if (this.#settings.refersTo(changed)) this.#settings.compile(this.#referables);
  }

  #updateCluster({ namespaces = new Map(), ...changes }: Changes): void {
    for (const [name, labels] of namespaces) setOrDelete(this.#namespaces, name, labels);
    this.#routes.reviewAdmission(namespaces.keys());
    const { services, targets, permissions } = this.#directory.apply(changes);
    this.#routes.resolveReferences({ services, permissions });
    this.#services.invalidate([...services, ...targets]);
  }

  /** Returns the route if it is of this gateway's class. */
  #putRoute(name: string, resource: StoredRoute | undefined): StoredRoute | undefined {
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
    const applied = this.#applied;
    const clusterIssuer = this.#clusterIssuer;
    if (served === applied?.served && clusterIssuer === applied?.clusterIssuer) return;
    const output = served?.output ?? defaultOutput(this.#options);
    const { resources, problems } = settingsResources(output, clusterIssuer);
    this.#certificates.use(SETTINGS_KEY, secretNamesOf(output.certificates));
    for (const { key } of applied?.resources ?? []) this.#report.setResource(key, undefined);
    for (const resource of resources) this.#report.setResource(resource.key, resource);
    const terms = this.#terms();
    this.#routes.setTerms(terms);
    this.#consent.setAuthenticateUrl(terms.context.authenticateAddress !== undefined);
    this.#applied = { served, clusterIssuer, resources, problems };
  }

  #compileChanged(): void {
    for (const name of this.#routes.decide()) this.#recordRoute(name);
    for (const [key, held] of this.#routes.decideHeldHosts()) this.#report.setResource(key, held);
    for (const name of this.#consent.takeChanged()) this.#reportRoute(name);
    for (const table of [this.#services, this.#certificates]) {
      for (const [key, resource] of table.compileChanged()) this.#report.setResource(key, resource);
    }
  }

  #recordRoute(name: string): void {
    const entry = this.#routes.get(name);
    const serving = entry?.serving;
    if (serving === undefined) this.#serving.delete(name);
    else this.#serving.add(name);
    this.#report.setResource(routeKey(name), serving?.resource);
    this.#services.use(name, serving?.resolved.backends ?? []);
    this.#certificates.use(routeKey(name), secretNamesOf(serving?.certificates ?? []));
    this.#consent.set(name, serving?.compiled);
    this.#reportRoute(name);
  }

  #reportRoute(name: string): void {
    const entry = this.#routes.get(name);
    const isConsentExposed = this.#consent.isExposed(name);
    const waiting = entry && this.#routes.waitingOf(entry);
    const { asMetadataDomains } = this.#routes.context;
    const about = { waiting, isConsentExposed, asMetadataDomains };
    this.#report.setRoute(name, entry && verdictOf(entry, about));
  }

  #terms(): RouteTerms {
    const { served } = this.#settings;
    const { devAllowLoopback, services } = this.#options;
    const { authenticateAddress, identityProviders, settings } =
      served?.output ?? defaultOutput(this.#options);
    const admission = served === undefined ? ADMIT_ALL : compileAdmission(served.settings);
    return {
      context: {
        devAllowLoopback,
        authenticateAddress,
        signIn: signInOf(served),
        identityProviders: identityProviders.map(providerFacts),
        bearerTokenFormat: settings.bearerTokenFormat ?? 'default',
        hasAllowedAudiences: settings.idpAccessTokenAllowedAudiences !== undefined,
        missingSettings: served === undefined ? describeSettings(this.#options) : undefined,
        mcpClientNamespaces: admission.mcpClientNamespaces,
        hostRules: admission.hostRules,
        asMetadataDomains: settings.allowedAsMetadataDomains ?? [],
        hasServices: services !== 'none',
      },
      admission: this.#options.holdsHosts === true ? admission : { ...admission, hostHoldMs: 0 },
    };
  }
}
