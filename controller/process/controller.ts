import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

import type { Logger } from '../../shared/process/logger.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { Changes } from '../compile/compilation.ts';
import { createIncrementalCompiler } from '../compile/incremental-compiler.ts';
import type { KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../kubernetes/objects.ts';
import { holderIdentity } from '../leader/holder-identity.ts';
import type { Elector, Leadership } from '../leader/leadership.ts';
import { electLeader } from '../leader/lease-elector.ts';
import { createProxyAuthenticator } from '../push/authenticate-proxy.ts';
import { startPushServer, type PushServer } from '../push/push-server.ts';
import { StatusLoop } from '../status/status-loop.ts';
import { ClusterWatch } from '../watch/cluster-watch.ts';
import { PendingCompilation } from './pending-compilation.ts';
import { Publisher } from './publisher.ts';

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
  /** Stops leading, so that another controller can at once, and closes everything. */
  close(): Promise<void>;
}

/**
 * Proxies connect within this time to who begins to lead. What they say they serve tells a
 * configuration that is small from one that has lost its routes.
 */
const FIRST_HELLOS_MS = 1000;

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
  readonly #pending = new PendingCompilation();
  readonly #routeNames = new Set<string>();
  readonly #publisher: Publisher;
  readonly #status: StatusLoop;
  readonly #watch: ClusterWatch;
  #onFirst: (() => void) | undefined;

  constructor(
    options: ControllerOptions & { readonly identity: string; readonly pushServer: PushServer },
    /** Called once everything is compiled for the first time. */
    onFirst: () => void,
  ) {
    const { logger, gatewayClass, namespace } = options;
    this.#pushServer = options.pushServer;
    this.#logger = logger;
    this.#onFirst = onFirst;
    this.#compiler = createIncrementalCompiler({
      devAllowLoopback: false,
      gatewayClassName: gatewayClass,
    });
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
      onChanges: (changes) => this.#take(changes),
      onProxyServiceChange: (service) => this.#status.proxyService(service),
    });
  }

  get table(): ReadonlyMap<string, SnapshotResource> {
    return this.#publisher.table;
  }

  /** Publishes and tells, until the leadership is over. */
  async lead(leadership: Leadership): Promise<void> {
    await using publication = this.#pushServer.lead(leadership, {
      onChange: this.#status.publicationChanged,
    });
    await over(wait(FIRST_HELLOS_MS, undefined, { signal: leadership.signal }));
    if (!leadership.isCurrent) return;
    // Others wrote status while this controller followed.
    this.#status.routeObjects(
      new Map([...this.#routeNames].map((name) => [name, this.#watch.route(name)])),
    );
    this.#status.settingsObject(this.#watch.settings);
    this.#publisher.lead(publication);
    this.#status.lead({ leadership, publication });
    if (!leadership.signal.aborted) await once(leadership.signal, 'abort');
    this.#publisher.follow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch[Symbol.asyncDispose]();
  }

  #take(changes: Changes): void {
    for (const [name, route] of changes.routes ?? []) {
      if (route === undefined) this.#routeNames.delete(name);
      else this.#routeNames.add(name);
    }
    this.#pending.add(this.#compiler.update(changes));
    this.#showObjects(changes);
    const isIncomplete = this.#watch.follow({
      secretNames: this.#compiler.secretNames,
      namespaces: this.#compiler.needsNamespaces,
    });
    // A Secret that is still being read is not a Secret that is missing.
    if (isIncomplete) return;
    this.#tell();
    this.#onFirst?.();
    this.#onFirst = undefined;
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

  #heldBack(reason: string | undefined): void {
    if (reason === undefined) this.#logger.info('publishing again');
    else this.#logger.warn('publishing nothing', { reason });
    this.#status.obstacle(reason);
  }
}

/** Waits for what ends by itself or is aborted. */
async function over(waiting: Promise<unknown>): Promise<void> {
  await waiting.catch(() => undefined);
}
