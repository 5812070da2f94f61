import { setTimeout as sleep } from 'node:timers/promises';

import { formatAddress, type ListenAddress } from '../shared/runtime/listen-address.ts';
import type { CompiledSettings, Snapshot } from '../shared/snapshot/snapshot.ts';
import type { Logger } from '../shared/telemetry/logger.ts';
import { isServerInFront, isTrustedProxy } from './configuration/server-in-front.ts';
import { ServedConfiguration } from './configuration/served-configuration.ts';
import type { SnapshotDifference } from './configuration/snapshot-changes.ts';
import { UnusedUpstreams } from './configuration/unused-upstreams.ts';
import { createStages, type DisposableStages, type GatewayOptions } from './create-stages.ts';
import { OpenStreams } from './forwarding/response/open-streams.ts';
import { TargetLoads } from './forwarding/targets/target-loads.ts';
import { UpstreamPools } from './forwarding/targets/upstream-pools.ts';
import { plainAddress } from './http/client-address.ts';
import type { ListenerHandlers } from './http/listener-handlers.ts';
import { Forwarder } from './pipeline/forward.ts';
import { handleRequest, type Stages } from './pipeline/handle-request.ts';
import { handleUpgrade } from './pipeline/handle-upgrade.ts';
import {
  ConnectionCounter,
  type ConnectionLimits,
  type ConnectionRefusal,
} from './server/connection-counter.ts';
import { ListenerSet } from './server/listener-set.ts';
import { RefusalLog } from './server/refusal-log.ts';
import { appliedChanges } from './telemetry/applied-changes.ts';
import type { RefusedConnection } from './telemetry/access-log.ts';
import { ProxyMetrics } from './telemetry/metrics/proxy-metrics.ts';

/** The reason why load balancers should send no requests to a gateway. */
export type UnreadyReason = 'no snapshot yet' | 'not listening' | 'draining';

/** How long the steps of a drain may take. */
export interface DrainTimes {
  /** Time for load balancers to notice that the gateway is not ready. */
  readonly minMs: number;
  /** Time for current requests to finish after that. */
  readonly timeoutMs: number;
}

/** Longer than a server takes to send the events that a resumed stream has missed. */
const MAX_PATIENCE_MS = 2000;

/** Time after which a listener for TLS that could not be opened is tried again. */
const RETRY_MS = 1000;

const NO_LIMITS: ConnectionLimits = { total: 0, perClient: 0 };

/** The data plane of one process. */
export class Gateway {
  readonly #pools = new UpstreamPools();
  readonly #streams = new OpenStreams();
  readonly #configuration: ServedConfiguration;
  readonly #stages: DisposableStages;
  readonly #listeners: ListenerSet;
  /** Milliseconds since the epoch. */
  #appliedAt: number | undefined;
  #isOpeningTls = false;
  #isDraining = false;

  constructor(options: GatewayOptions) {
    const { metrics = new ProxyMetrics() } = options;
    const unusedUpstreams = new UnusedUpstreams(this.#pools, options.logger);
    this.#configuration = new ServedConfiguration((changes) => {
      this.#appliedAt = Date.now();
      metrics.requests.followChanges(changes);
      const configuration = this.#configuration.required;
      unusedUpstreams.closeAfter(changes);
      options.tracing?.apply(configuration.settings.tracing);
      if (configuration.certificates.size > 0) void this.#openTls(options.logger);
      const applied = appliedChanges(configuration.version, changes);
      if (applied === undefined) return;
      this.#stages.audit.write('configuration-applied', { configuration }, { applied });
    });
    const loads = new TargetLoads();
    this.#stages = createStages({
      ...options,
      metrics,
      configuration: this.#configuration,
      requiresTls: () => this.#listeners.tls !== 'unneeded',
      forwarder: new Forwarder({ pools: this.#pools, loads, streams: this.#streams }),
    });
    this.#listeners = new ListenerSet(
      this.#handlers(options.connectionLimits ?? NO_LIMITS, options.logger, metrics),
    );
    this.#show(metrics);
  }

  /**
   * Replaces the whole configuration at once; a request that has begun keeps the previous one. The new
   * one is built in time slices, so that requests are served meanwhile. If `difference` begins at the
   * snapshot that is served, only its changes are built.
   *
   * Rejects, and changes nothing, if a resource of the snapshot cannot be served. `checkResources` finds
   * the resources that cannot be served at all; `UnservableError` names those that cannot be served beside
   * each other. Rejects also if another snapshot was applied meanwhile.
   */
  apply(snapshot: Snapshot, difference?: SnapshotDifference): Promise<void> {
    return this.#configuration.apply(snapshot, difference);
  }

  /**
   * Listens on exactly these addresses from now on, and resolves with the bound addresses. Rejects, and
   * changes nothing, if an address cannot be bound. Those for TLS open with the first certificate, and
   * are tried again while they cannot.
   */
  listen(addresses: readonly ListenAddress[]): Promise<readonly ListenAddress[]> {
    return this.#listeners.listen(addresses);
  }

  /** Returns the version of the snapshot that is served; undefined before the first one. */
  version(): string | undefined {
    return this.#configuration.current?.version;
  }

  /** Returns why load balancers should send no requests here; undefined if they should. */
  whyNotReady(): UnreadyReason | undefined {
    if (this.#isDraining) return 'draining';
    if (this.#configuration.current === undefined) return 'no snapshot yet';
    return this.#listeners.isListening ? undefined : 'not listening';
  }

  /** Returns the number of connections that clients have. */
  connections(): number {
    return this.#listeners.connections();
  }

  /**
   * Takes the gateway out of service so that no request fails. From now on the gateway is not ready, and
   * every response is the last of its connection. After `minMs` it accepts no more connections, closes those that
   * stay idle for as long again, and ends the streams that answer no call: event streams of GET requests, after an
   * event, and WebSockets, with status 1001. After another `timeoutMs` it ends the event streams of calls, and closes
   * the remaining connections. Resolves when no connection is left. Call `close` afterwards.
   */
  async drain({ minMs, timeoutMs }: DrainTimes): Promise<void> {
    this.#isDraining = true;
    this.#listeners.announceClose();
    // A gateway that does not listen gets no requests, so there is nothing to wait for.
    if (this.#listeners.isListening) await sleep(minMs);
    this.#streams.endListenOnly(Math.min(MAX_PATIENCE_MS, minMs));
    await this.#listeners.close(timeoutMs, () => this.#streams.endAll(), minMs);
  }

  /** Opens the listeners for TLS. Tries again until it succeeds, or until the gateway ends. Never rejects. */
  async #openTls(logger: Logger): Promise<void> {
    if (this.#isOpeningTls) return;
    this.#isOpeningTls = true;
    for (let attempt = 1; !this.#isDraining; attempt += 1) {
      try {
        const addresses = await this.#listeners.openTls();
        if (addresses) logger.info('listening', { addresses: addresses.map(formatAddress) });
        break;
      } catch (error) {
        if (attempt === 1) logger.error('the listener for TLS cannot be opened', {}, error);
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
    this.#isOpeningTls = false;
  }

  #handlers(limits: ConnectionLimits, logger: Logger, metrics: ProxyMetrics): ListenerHandlers {
    const refusals = new RefusalLog(logger, () => performance.now());
    const settings = (): CompiledSettings | undefined => this.#configuration.current?.settings;
    const onRefused = (refusal: ConnectionRefusal): void => {
      metrics.connections.countRefusal(refusal);
      const { reason, client: address } = refusal;
      const isListed = settings()?.authorizeLogFields.includes('ip') === true;
      refusals.record(reason, isListed ? address : undefined);
      this.#logRefused({ address, reason });
    };
    const counter = new ConnectionCounter(limits, {
      isExempt: (address) => isServerInFront(address, settings()),
      onRefused,
    });
    return {
      ...handlers(this.#stages, counter, logger),
      isTrustedProxy(address) {
        const current = settings();
        return current !== undefined && isTrustedProxy(address, current);
      },
      refusedProxyHeader: (address) => {
        onRefused({ reason: 'malformed-proxy-header', client: plainAddress(address) });
      },
      certificatesFor: (serverName) =>
        this.#configuration.current?.certificates.find(serverName) ?? [],
      handshake: (outcome) => metrics.tls.countHandshake(outcome),
      refused: (address, status) => {
        metrics.connections.countUnreadable(status);
        this.#logRefused({ address: plainAddress(address), status });
      },
    };
  }

  /** Without a configuration nobody said that there is an access log. */
  #logRefused(refused: RefusedConnection): void {
    const settings = this.#configuration.current?.settings;
    this.#stages.accessLog.writeRefused(refused, settings ?? {});
  }

  /** Accepts no more connections, lets current requests finish for a while, then closes everything. */
  async close(): Promise<void> {
    this.#isDraining = true;
    await this.#listeners.close();
    this.#pools[Symbol.dispose]();
    this.#stages[Symbol.dispose]();
  }

  #show({ connections, snapshot, requests, tls }: ProxyMetrics): void {
    tls.show(() => this.#configuration.current?.certificates.all() ?? []);
    connections.show({
      connections: () => this.connections(),
      streams: () => this.#streams.count(),
    });
    snapshot.show({
      version: () => this.version(),
      appliedAt: () => this.#appliedAt,
      routes: () => requests.routes,
    });
  }
}

/** Serves what listeners receive. */
function handlers(stages: Stages, counter: ConnectionCounter, logger: Logger): ListenerHandlers {
  return {
    admit: (address) => counter.admit(address),
    release: (address) => counter.release(address),
    request(message, response) {
      handleRequest(message, response, stages).catch(giveUp(response, logger));
    },
    upgrade(message, socket, head) {
      handleUpgrade(message, { socket, head }, stages).catch(giveUp(socket, logger));
    },
  };
}

/** The last resort if even the answer to a failure failed: closes one connection, not the process. */
function giveUp(connection: { destroy(): unknown }, logger: Logger): (error: unknown) => void {
  return (error) => {
    connection.destroy();
    const stack = error instanceof Error ? error.stack : undefined;
    logger.error('request failed unexpectedly', { stack }, error);
  };
}
