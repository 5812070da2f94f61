import type { Clock } from '../shared/runtime/clock.ts';
import type { SnapshotResource } from '../shared/snapshot/snapshot.ts';
import { SETTINGS_KEY } from '../shared/snapshot/resource-key.ts';
import type { Trace } from '../shared/telemetry/tracing/trace.ts';
import type { ProcessTracing } from '../shared/telemetry/tracing/settings/process-tracing.ts';
import { isEmptyChangeSet } from './compile/change-set.ts';
import type { Changes, Compilation } from './compile/compilation.ts';
import { IncrementalCompiler } from './compile/incremental-compiler.ts';
import { describeChanges } from './describe-changes.ts';
import { FailStop } from './fail-stop.ts';
import { HostRecordKeeper } from './holds/host-record-keeper.ts';
import type { HostRecord } from './holds/host-record.ts';
import { WallTimer } from './holds/wall-timer.ts';
import type { StoredSettings } from './kubernetes/stored-resources.ts';
import type { Leadership } from './leader/leadership.ts';
import { mergeCompilations, NOTHING_COMPILED } from './publish/merge-compilations.ts';
import { PublicationHold } from './publish/publication-hold.ts';
import { PublicationAudit } from './publish/publication-audit.ts';
import { Publisher } from './publish/publisher.ts';
import type { OnPublicationChange, OnPublished, Publication } from './push/publication.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import { StatusLoop } from './status/status-loop.ts';
import { ChangeTraces } from './telemetry/change-traces.ts';
import type { CompileMetrics, CompileOutcome } from './telemetry/compile-metrics.ts';
import { ClusterWatch } from './watch/cluster-watch.ts';
import { SettingsPresence } from './watch/settings-presence.ts';
import type { StatusChange } from './watch/status-change.ts';

const MS_PER_SECOND = 1000;

/** A leadership, and the publication that it writes to. */
export interface PublishingTerm {
  readonly leadership: Leadership;
  readonly publication: Publication;
  /** The hosts that the previous leader held. */
  readonly hosts: HostRecord;
}

/**
 * Watches the cluster, compiles each change, publishes the result, and reports it in statuses.
 *
 * Every controller compiles; only the leader publishes and writes statuses.
 */
export class Reconciler implements AsyncDisposable {
  readonly #watch: ClusterWatch;
  readonly #presence: SettingsPresence;
  readonly #compiler: IncrementalCompiler;
  readonly #routeNames = new Set<string>();
  /** Compilations that are not published yet. */
  #pending = NOTHING_COMPILED;
  readonly #publisher: Publisher;
  readonly #status: StatusLoop;
  readonly #hold: PublicationHold;
  readonly #failStop: FailStop;
  readonly #clock: Clock;
  readonly #wallTime: () => Date;
  readonly #tracing: ProcessTracing | undefined;
  readonly #metrics: CompileMetrics;
  readonly #expiry: WallTimer;
  readonly #hosts: HostRecordKeeper;
  readonly #traces: ChangeTraces;
  readonly #audit: PublicationAudit;
  /** Called once, after the next compilation with all references loaded, with its trace. */
  readonly #onceComplete: Set<(trace: Trace | undefined) => void>;

  /** `onComplete` is called once, when everything is compiled for the first time. */
  constructor(options: ReconcilerOptions, onComplete: () => void) {
    const { logger, metrics, clock, gatewayClass, namespace } = options;
    this.#metrics = metrics.compile;
    this.#clock = clock;
    const settingsName = `${namespace}/${options.settingsName}`;
    this.#onceComplete = new Set([onComplete]);
    this.#presence = new SettingsPresence({ settingsName, gatewayClass, logger });
    this.#tracing = options.tracing;
    this.#traces = new ChangeTraces(options.tracing?.tracer);
    this.#wallTime = options.wallTime ?? (() => new Date());
    this.#compiler = new IncrementalCompiler({
      devAllowLoopback: false,
      gatewayClassName: gatewayClass,
      settingsName,
      holdsHosts: true,
    });
    this.#status = new StatusLoop(options);
    this.#hold = new PublicationHold({
      clock,
      logger,
      patienceMs: options.referencePatienceMs,
      onChange: (reason) => {
        metrics.compile.setHeldBack(reason !== undefined);
        this.#status.setObstacle(reason);
      },
    });
    this.#publisher = new Publisher({
      deletionDelayMs: options.deletionDelayMs,
      clock,
      onHeldBack: (reason) => this.#hold.setPublisherReason(reason),
    });
    this.#audit = new PublicationAudit({
      ...{ logger: options.audit, identity: options.identity },
      generationOf: (key) => this.#status.servedGeneration(key),
    });
    this.#failStop = new FailStop({ logger, onFailure: () => this.#publisher.resign() });
    const reconcile = (changes: Changes): void =>
      this.#failStop.run(() => this.#reconcile(changes));
    this.#expiry = new WallTimer(clock, this.#wallTime, () => reconcile({}));
    this.#hosts = new HostRecordKeeper({
      ...options,
      place: { namespace, name: hostRecordName(gatewayClass) },
      holders: () => this.#compiler.holders,
      onReleased: (releasedHosts) => reconcile({ releasedHosts }),
      onEnded: (endedNamespaces) => reconcile({ endedNamespaces }),
    });
    this.#watch = this.#openWatch(options);
  }

  /** All compiled snapshot resources by key, published or not. */
  get table(): ReadonlyMap<string, SnapshotResource> {
    return this.#publisher.table;
  }

  /** Rejects when a change could not be handled. Nothing is reconciled after that. */
  get failed(): Promise<never> {
    return this.#failStop.failed;
  }

  /** Reads the hosts that the previous leader held. Undefined if the signal aborts before. */
  loadHosts(signal: AbortSignal): Promise<HostRecord | undefined> {
    return this.#hosts.load(signal);
  }

  /**
   * Takes over from the previous leader: adopts the generations that its statuses name, because proxies
   * serve them, and publishes once all references are loaded.
   *
   * Returns a function that resigns.
   */
  beginTerm(term: PublishingTerm): () => void {
    const begin = (trace: Trace | undefined): void => {
      this.#publisher.beginTerm(term.publication, attachedRoutes(this.#watch.settings), trace);
      this.#status.beginTerm(term);
      void this.#hosts.keep(term.leadership.signal);
    };
    this.#failStop.run(() => {
      this.#traces.begin('leadership', {});
      this.#adopt(term.hosts);
      this.#onceComplete.add(begin);
      this.#publishIfComplete();
    });
    return () => {
      this.#onceComplete.delete(begin);
      this.#traces.end();
      this.#publisher.resign();
    };
  }

  /** Receives what is published, for the audit log. */
  get onPublished(): OnPublished {
    return this.#audit.published;
  }

  /** Receives the keys that proxies newly acknowledge or reject. */
  readonly onPublicationChange: OnPublicationChange = (keys) => {
    this.#failStop.run(() => this.#status.recheck(keys));
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hold[Symbol.dispose]();
    this.#expiry[Symbol.dispose]();
    await this.#watch[Symbol.asyncDispose]();
  }

  #openWatch(options: ReconcilerOptions): ClusterWatch {
    const { namespace, watchNamespaces } = options;
    return new ClusterWatch({
      ...options,
      settings: { namespace, name: options.settingsName },
      ...(watchNamespaces && { namespaces: watchNamespaces }),
      onChanges: (changes, since) => {
        this.#failStop.run(() => this.#reconcile(changes, since));
      },
      onStatusChange: (change) => this.#failStop.run(() => this.#observe(change)),
      onProxyServiceChange: (service) =>
        this.#failStop.run(() => this.#status.setProxyService(service)),
    });
  }

  #reconcile(changes: Changes, since?: number): void {
    if (this.#publisher.isLeading) this.#traces.begin('change', describeChanges(changes), since);
    this.#presence.record(this.#watch.settings !== undefined);
    for (const [name, route] of changes.routes ?? []) {
      if (route === undefined) this.#routeNames.delete(name);
      else this.#routeNames.add(name);
    }
    const now = this.#wallTime().getTime();
    this.#compile(() => this.#compiler.update({ ...changes, now }));
    this.#observeObjects(changes);
    this.#publishIfComplete();
  }

  /** Keeps a compilation until it is published, and measures it. */
  #compile(compile: () => Compilation): void {
    const startedAt = this.#clock.now();
    let outcome: CompileOutcome = 'failed';
    try {
      const compilation = this.#traces.compile(compile);
      outcome = isEmptyChangeSet(compilation) ? 'unchanged' : 'changed';
      if (this.#compiler.obstacle !== undefined) outcome = 'obstacle';
      this.#take(compilation);
    } finally {
      this.#metrics.compiled(outcome, (this.#clock.now() - startedAt) / MS_PER_SECOND);
    }
  }

  #take(compilation: Compilation): void {
    this.#pending = mergeCompilations(this.#pending, compilation);
    this.#hosts.change(compilation.hosts);
    this.#expiry.set(this.#compiler.nextExpiry);
  }

  #adopt(hosts: HostRecord): void {
    const routes = new Map([...this.#routeNames].map((name) => [name, this.#watch.route(name)]));
    const { settings } = this.#watch;
    this.#status.observeRoutes(routes);
    this.#status.observeSettings(settings);
    const now = this.#wallTime().getTime();
    this.#compile(() => this.#compiler.adopt({ routes, settings: settings ?? null, now }, hosts));
  }

  /** Publishes, unless a reference is still loading: a Secret that is loading is not missing. */
  #publishIfComplete(): void {
    const isIncomplete = this.#watch.subscribe({
      secretNames: this.#compiler.secretNames,
      configMapNames: this.#compiler.configMapNames,
      namespaces: this.#compiler.needsNamespaces,
      clusterIssuer: this.#compiler.needsClusterIssuer,
    });
    if (isIncomplete) {
      this.#hold.referencesLoading();
      return;
    }
    this.#hold.referencesLoaded();
    this.#publish();
    for (const call of this.#onceComplete) {
      this.#onceComplete.delete(call);
      call(this.#traces.current);
    }
    this.#traces.end();
  }

  /** Publishes and reports all pending compilations. */
  #publish(): void {
    const { obstacle, routeCount } = this.#compiler;
    const { put, deleted, routes, settings } = this.#pending;
    const trace = this.#traces.current;
    this.#pending = NOTHING_COMPILED;
    if (routes.size > 0) this.#status.reportRoutes(routes, trace);
    if (settings !== undefined) this.#status.reportSettings(settings, trace);
    this.#publisher.publish({ put, deleted, routeCount, obstacle, trace });
    const compiled = put.find(({ key }) => key === SETTINGS_KEY)?.value;
    if (compiled?.kind === 'settings') this.#tracing?.apply(compiled.tracing);
  }

  #observeObjects({ routes, settings }: Changes): void {
    if (routes) this.#status.observeRoutes(routes);
    if (settings !== undefined) this.#status.observeSettings(this.#watch.settings);
  }

  /** Records the statuses that the cluster has now. */
  #observe(change: StatusChange): void {
    switch (change.kind) {
      case 'settings':
        this.#status.observeSettings(change.settings);
        return;
      case 'route':
        this.#status.observeRoutes(new Map([[change.key, change.route]]));
        return;
      case 'released-route':
        this.#status.releaseRoute(change.key, change.released);
    }
  }
}

/** Each gateway class has a record of its own, as it has a Lease of its own. */
function hostRecordName(gatewayClass: string): string {
  return gatewayClass === 'gatehouse' ? 'gatehouse-hosts' : `gatehouse-hosts-${gatewayClass}`;
}

/**
 * Returns the number of routes that the previous leader reported. Proxies report it too, but one may
 * not have connected yet, and one may lie.
 */
function attachedRoutes(settings: StoredSettings | undefined): number | undefined {
  return settings?.status?.attachedRoutes;
}
