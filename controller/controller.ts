import { once } from 'node:events';

import { monotonicClock, pause } from '../shared/runtime/clock.ts';
import type { SnapshotResource } from '../shared/snapshot/snapshot.ts';
import { DEFAULT_TIMING, type ElectionTiming } from './leader/election-timing.ts';
import { holderIdentity } from './leader/holder-identity.ts';
import type { Leadership } from './leader/leadership.ts';
import { leaseName } from './leader/lease-name.ts';
import { LeaseElector } from './leader/lease-elector.ts';
import { createProxyAuthenticator } from './push/server/authenticate-proxy.ts';
import { startPushServer, type PushServer } from './push/server/push-server.ts';
import { meteredApi } from './kubernetes/metered-api.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import { Reconciler } from './reconciler.ts';
import type { LeaderMetrics } from './telemetry/leader-metrics.ts';
import type { ProxyObject } from './watch/cluster-watch.ts';

const SECOND = 1000;

/** Times of a controller, in milliseconds. */
export interface ControllerTiming {
  /**
   * How long a leader waits for proxies before it publishes. The number of routes that they serve
   * shows whether the configuration is small or has lost routes.
   */
  readonly firstHellosMs: number;
  /** How long objects that the settings refer to may load before that is reported. */
  readonly referencePatienceMs: number;
  readonly election: ElectionTiming;
}

const CONTROLLER_TIMING: ControllerTiming = {
  firstHellosMs: SECOND,
  referencePatienceMs: 15 * SECOND,
  election: DEFAULT_TIMING,
};

/** Options of a controller. */
export interface ControllerOptions extends Omit<
  ReconcilerOptions,
  'clock' | 'identity' | 'referencePatienceMs'
> {
  /** Name of the pod or the machine, for the Lease. */
  readonly host: string;
  readonly proxyServiceAccount: ProxyObject;
  readonly pushListen: { readonly host: string; readonly port: number };
  readonly pushTlsDirectory: string;
  /** `host:port` that proxies dial while this controller leads. */
  readonly pushAddress: string;
  readonly timing?: Partial<ControllerTiming>;
}

/** Starts a controller. Rejects if it cannot listen or its certificate cannot be used. */
export async function startController(given: ControllerOptions): Promise<Controller> {
  const { namespace, logger, metrics } = given;
  const api = meteredApi(given.api, metrics.api);
  const options = { ...given, api };
  const timing = { ...CONTROLLER_TIMING, ...options.timing };
  const identity = holderIdentity(options.host);
  const elector = new LeaseElector({
    api,
    namespace,
    leaseName: leaseName(options.gatewayClass),
    identity,
    pushAddress: options.pushAddress,
    logger,
    timing: timing.election,
  });
  const pushServer = await listenForProxies(options, () => elector.leaderAddress);
  metrics.leader.readFrom(() => elector.isLeading);
  metrics.publication.readFrom(() => pushServer.publication);
  const { firstHellosMs, referencePatienceMs } = timing;
  return new Controller({
    reconciler: { ...options, clock: monotonicClock, identity, referencePatienceMs },
    elector,
    pushServer,
    firstHellosMs,
    metrics: metrics.leader,
  });
}

function listenForProxies(
  { api, namespace, logger, metrics, ...options }: ControllerOptions,
  leaderAddress: () => string | undefined,
): Promise<PushServer> {
  const { proxyServiceAccount: account } = options;
  const expected = { namespace: account.namespace ?? namespace, serviceAccount: account.name };
  return startPushServer({
    listen: options.pushListen,
    tlsDirectory: options.pushTlsDirectory,
    authenticate: createProxyAuthenticator({ api, ...expected, logger }),
    leaderAddress,
    logger,
    metrics: metrics.push,
    tracer: options.tracing?.tracer,
  });
}

/**
 * The control plane of one process.
 *
 * It reconciles from the start, joins the election once everything is compiled for the first time,
 * and publishes to the proxies while it leads.
 */
export class Controller {
  readonly #reconciler: Reconciler;
  readonly #elector: LeaseElector;
  readonly #pushServer: PushServer;
  readonly #firstHellosMs: number;
  readonly #metrics: LeaderMetrics;
  #isReady = false;

  constructor({
    reconciler,
    elector,
    pushServer,
    firstHellosMs,
    metrics,
  }: {
    readonly reconciler: ReconcilerOptions;
    readonly elector: LeaseElector;
    readonly pushServer: PushServer;
    readonly firstHellosMs: number;
    readonly metrics: LeaderMetrics;
  }) {
    this.#elector = elector;
    this.#pushServer = pushServer;
    this.#firstHellosMs = firstHellosMs;
    this.#metrics = metrics;
    this.#reconciler = new Reconciler(reconciler, () => {
      this.#isReady = true;
      elector.join((leadership) => this.#runTerm(leadership));
    });
  }

  /** The address that proxies connect to. */
  get pushAddress(): { readonly host: string; readonly port: number } {
    const { address, port } = this.#pushServer.address;
    return { host: address, port };
  }

  /** Whether all relevant resources of the cluster are compiled. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** All compiled snapshot resources by key, published or not. */
  get table(): ReadonlyMap<string, SnapshotResource> {
    return this.#reconciler.table;
  }

  /**
   * Rejects when a change could not be handled. This process then reconciles and publishes nothing
   * more; another process has to read everything again.
   */
  get failed(): Promise<never> {
    return this.#reconciler.failed;
  }

  /** Resigns, so that another controller can lead at once, and closes everything. */
  async close(): Promise<void> {
    await this.#elector[Symbol.asyncDispose]();
    await this.#reconciler[Symbol.asyncDispose]();
    await this.#pushServer.close();
  }

  /** Publishes and reports, until the leadership ends. */
  async #runTerm(leadership: Leadership): Promise<void> {
    this.#metrics.began();
    await using publication = this.#pushServer.startPublication(leadership, {
      onChange: this.#reconciler.onPublicationChange,
      onPublished: this.#reconciler.onPublished,
    });
    await pause(monotonicClock, this.#firstHellosMs, leadership.signal);
    const hosts = await this.#reconciler.loadHosts(leadership.signal);
    if (!leadership.isCurrent || hosts === undefined) return;
    const resign = this.#reconciler.beginTerm({ leadership, publication, hosts });
    if (!leadership.signal.aborted) await once(leadership.signal, 'abort');
    resign();
  }
}
