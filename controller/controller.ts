import { once } from 'node:events';

import type { GatewaySettings } from '../crds/types.ts';
import { monotonicClock, pause } from '../shared/runtime/clock.ts';
import type { Logger } from '../shared/telemetry/logger.ts';
import type { SnapshotResource } from '../shared/snapshot/snapshot.ts';
import type { Changes } from './compile/compilation.ts';
import { createIncrementalCompiler } from './compile/incremental-compiler.ts';
import type { KubernetesApi } from './kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from './kubernetes/objects.ts';
import { holderIdentity } from './leader/holder-identity.ts';
import type { Elector, Leadership } from './leader/leadership.ts';
import { electLeader } from './leader/lease-elector.ts';
import { createProxyAuthenticator } from './push/server/authenticate-proxy.ts';
import { startPushServer, type PushServer } from './push/server/push-server.ts';
import { StatusLoop } from './status/status-loop.ts';
import { ClusterWatch, type StatusChange } from './watch/cluster-watch.ts';
import { PendingCompilation } from './publish/pending-compilation.ts';
import { Publisher } from './publish/publisher.ts';
import { SettingsPresence } from './watch/settings-presence.ts';

export interface ControllerOptions {
  readonly api: KubernetesApi;
  readonly logger: Logger;
  /** Of the pod or the machine, for the Lease. */
  readonly host: string;
  /** Where Gatehouse is installed. */
  readonly namespace: string;
  /** Where Routes are looked for; absent: everywhere. */
  readonly watchNamespaces: readonly string[] | undefined;
  readonly gatewayClass: string;
  readonly settingsName: string;
  readonly proxyServiceAccount: string;
  readonly proxyService: string;
  readonly pushListen: { readonly host: string; readonly port: number };
  readonly pushTlsDirectory: string;
  /** `host:port` that proxies are told to dial while this controller leads. */
  readonly pushAddress: string;
  /** How long a configuration that lost nearly all routes is held back. */
  readonly deletionDelayMs: number;
}

/** The control plane of one process. */
export interface Controller {
  /** Where proxies connect to. */
  readonly pushAddress: { readonly host: string; readonly port: number };
  /** Whether everything in the cluster that matters is known. */
  readonly isReady: boolean;
  /** What is compiled, published or not, by key. */
  readonly table: ReadonlyMap<string, SnapshotResource>;
  /**
   * Rejects when a change was not handled: what this process knows has a hole from then on, and it
   * neither takes nor publishes anything more. Another process reads everything anew.
   */
  readonly failed: Promise<never>;
  /** Stops leading, so that another controller can at once, and closes everything. */
  close(): Promise<void>;
}

/**
 * Proxies connect within this time to who begins to lead. What they say they serve tells a
 * configuration that is small from one that has lost its routes.
 */
const FIRST_HELLOS_MS = 1000;

/** What the settings ask for is read in less time as a rule. Later, people are told. */
const PATIENCE_MS = 15_000;
const UNREAD = 'what the settings refer to cannot be read, and the log of the controller says why';

/** Starts it. Rejects when it cannot listen, or its certificate cannot be used. */
export async function startController(options: ControllerOptions): Promise<Controller> {
  const { api, logger, namespace, proxyServiceAccount } = options;
  let elector: Elector | undefined;
  const pushServer = await startPushServer({
    listen: options.pushListen,
    tlsDirectory: options.pushTlsDirectory,
    authenticate: createProxyAuthenticator({
      api,
      namespace,
      serviceAccount: proxyServiceAccount,
      logger,
    }),
    leaderAddress: () => elector?.leaderAddress,
    logger,
  });
  const identity = holderIdentity(options.host);
  const loop = new ControlLoop({ ...options, identity, pushServer }, () => {
    elector = electLeader({
      api,
      namespace,
      leaseName: leaseName(options.gatewayClass),
      identity,
      pushAddress: options.pushAddress,
      logger,
      onLeading: (leadership) => loop.lead(leadership),
    });
  });
  const { address, port } = pushServer.address;
  return {
    pushAddress: { host: address, port },
    get isReady() {
      return elector !== undefined;
    },
    table: loop.table,
    failed: loop.failed,
    async close() {
      await elector?.[Symbol.asyncDispose]();
      await loop[Symbol.asyncDispose]();
      await pushServer.close();
    },
  };
}

/** Each class has leaders of its own. */
function leaseName(gatewayClass: string): string {
  return gatewayClass === 'gatehouse'
    ? 'gatehouse-controller'
    : `gatehouse-controller-${gatewayClass}`;
}

/** What every controller does, and what only the leader does. */
class ControlLoop implements AsyncDisposable {
  readonly #pushServer: PushServer;
  readonly #logger: Logger;
  readonly #compiler;
  readonly #presence: SettingsPresence;
  readonly #pending = new PendingCompilation();
  readonly #routeNames = new Set<string>();
  readonly #publisher: Publisher;
  readonly #status: StatusLoop;
  readonly #watch: ClusterWatch;
  readonly #failure = Promise.withResolvers<never>();
  /** Called once all that was compiled with is known. */
  readonly #waiting: Set<() => void>;
  #hasFailed = false;
  /** Since something is being read that the settings ask for. */
  #impatience: NodeJS.Timeout | undefined;
  #isUnreadTold = false;

  constructor(
    options: ControllerOptions & { readonly identity: string; readonly pushServer: PushServer },
    /** Called once everything is compiled for the first time. */
    onFirst: () => void,
  ) {
    const { logger, gatewayClass, namespace } = options;
    const settingsName = `${namespace}/${options.settingsName}`;
    this.#pushServer = options.pushServer;
    this.#logger = logger;
    this.#waiting = new Set([onFirst]);
    // Whoever waits for it hears of it.
    this.#failure.promise.catch(() => undefined);
    this.#compiler = createIncrementalCompiler({
      devAllowLoopback: false,
      gatewayClassName: gatewayClass,
      settingsName,
    });
    this.#presence = new SettingsPresence({ settingsName, gatewayClass, logger });
    this.#status = new StatusLoop(options);
    this.#publisher = new Publisher({
      deletionDelayMs: options.deletionDelayMs,
      now: () => performance.now(),
      onHeldBack: (reason) => this.#heldBack(reason),
    });
    this.#watch = new ClusterWatch({
      api: options.api,
      logger,
      gatewayClass,
      settings: { namespace, name: options.settingsName },
      ...(options.watchNamespaces && { namespaces: options.watchNamespaces }),
      proxyService: options.proxyService,
      onChanges: (changes) => this.#attempt(() => this.#take(changes)),
      onStatusChange: (change) => this.#attempt(() => this.#takeStatus(change)),
      onProxyServiceChange: (service) => this.#attempt(() => this.#status.proxyService(service)),
    });
  }

  get table(): ReadonlyMap<string, SnapshotResource> {
    return this.#publisher.table;
  }

  /** Rejects when a change was not handled. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  /** Publishes and tells, until the leadership is over. */
  async lead(leadership: Leadership): Promise<void> {
    await using publication = this.#pushServer.lead(leadership, {
      onChange: (keys) => this.#attempt(() => this.#status.publicationChanged(keys)),
    });
    await pause(monotonicClock, FIRST_HELLOS_MS, leadership.signal);
    if (!leadership.isCurrent) return;
    const begin = (): void => {
      this.#publisher.lead(publication, attachedRoutes(this.#watch.settings));
      this.#status.lead({ leadership, publication });
    };
    this.#attempt(() => {
      this.#adopt();
      this.#waiting.add(begin);
      this.#settle();
    });
    if (!leadership.signal.aborted) await once(leadership.signal, 'abort');
    this.#waiting.delete(begin);
    this.#publisher.follow();
  }

  /** Takes up what the leader before told in statuses: proxies have it from there. */
  #adopt(): void {
    const routes = new Map([...this.#routeNames].map((name) => [name, this.#watch.route(name)]));
    const { settings } = this.#watch;
    this.#status.routeObjects(routes);
    this.#status.settingsObject(settings);
    this.#pending.add(this.#compiler.adopt({ routes, settings: settings ?? null }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#impatience);
    await this.#watch[Symbol.asyncDispose]();
  }

  #take(changes: Changes): void {
    this.#presence.see(this.#watch.settings !== undefined);
    for (const [name, route] of changes.routes ?? []) {
      if (route === undefined) this.#routeNames.delete(name);
      else this.#routeNames.add(name);
    }
    this.#pending.add(this.#compiler.update(changes));
    this.#showObjects(changes);
    this.#settle();
  }

  /** Tells what is compiled, unless it was compiled with less than there is. */
  #settle(): void {
    const isIncomplete = this.#watch.follow({
      secretNames: this.#compiler.secretNames,
      namespaces: this.#compiler.needsNamespaces,
    });
    // A Secret that is still being read is not a Secret that is missing.
    if (isIncomplete) {
      this.#impatience ??= setTimeout(() => this.#tellUnread(), PATIENCE_MS);
      return;
    }
    this.#stopWaiting();
    this.#tell();
    for (const call of this.#waiting) {
      this.#waiting.delete(call);
      call();
    }
  }

  #tellUnread(): void {
    this.#isUnreadTold = true;
    this.#heldBack(UNREAD);
  }

  #stopWaiting(): void {
    clearTimeout(this.#impatience);
    this.#impatience = undefined;
    if (!this.#isUnreadTold) return;
    this.#isUnreadTold = false;
    this.#heldBack(this.#publisher.heldBack);
  }

  #takeStatus(change: StatusChange): void {
    switch (change.kind) {
      case 'settings':
        this.#status.settingsObject(change.object);
        return;
      case 'route':
        this.#status.routeObjects(new Map([[change.key, change.object]]));
        return;
      case 'parted-route':
        this.#status.partedRoute(change.key, change.parted);
    }
  }

  #tell(): void {
    const { obstacle, routeCount } = this.#compiler;
    const { put, deleted, routes, settings } = this.#pending.take();
    this.#publisher.take({ put, deleted, routeCount, obstacle });
    if (routes.size > 0) this.#status.routes(routes);
    if (settings !== undefined) this.#status.settings(settings);
  }

  #showObjects({ routes, settings }: Changes): void {
    // As the watch has them.
    if (routes)
      this.#status.routeObjects(routes as ReadonlyMap<string, KubernetesObject | undefined>);
    if (settings !== undefined) this.#status.settingsObject(this.#watch.settings);
  }

  /** What is not done to its end is not made good by what comes after it. */
  #attempt(work: () => void): void {
    if (this.#hasFailed) return;
    try {
      work();
    } catch (error) {
      this.#hasFailed = true;
      this.#logger.error('change not handled', {}, error);
      this.#publisher.follow();
      this.#failure.reject(error);
    }
  }

  #heldBack(reason: string | undefined): void {
    if (reason === undefined) this.#logger.info('publication is not held back any more');
    else this.#logger.warn('publication is held back', { reason });
    this.#status.obstacle(reason);
  }
}

/** What the leader before told last: proxies may not have said yet what they serve, and one may lie. */
function attachedRoutes(settings: KubernetesObject | undefined): number | undefined {
  // As the API server sends it, which has checked it.
  const { status } = (settings ?? {}) as Pick<GatewaySettings, 'status'>;
  return status?.attachedRoutes;
}
