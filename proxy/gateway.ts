import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ListenAddress } from '../shared/runtime/listen-address.ts';
import type { Snapshot } from '../shared/snapshot/snapshot.ts';
import type { Logger } from '../shared/telemetry/logger.ts';
import { ServedConfiguration } from './configuration/served-configuration.ts';
import type { SnapshotDifference } from './configuration/snapshot-changes.ts';
import { UnusedUpstreams } from './configuration/unused-upstreams.ts';
import { createStages, type GatewayOptions, type OpenStages } from './create-stages.ts';
import { OpenStreams } from './forwarding/response/open-streams.ts';
import { TargetLoads } from './forwarding/targets/target-loads.ts';
import { UpstreamPools } from './forwarding/targets/upstream-pools.ts';
import { Forwarder } from './pipeline/forward.ts';
import { handleRequest } from './pipeline/handle-request.ts';
import { handleUpgrade } from './pipeline/handle-upgrade.ts';
import type { ListenerHandlers } from './server/connections.ts';
import { ListenerSet } from './server/listener-set.ts';

/** Why no requests should be sent to a gateway. */
export type UnreadyReason = 'no snapshot yet' | 'not listening' | 'draining';

/** How long the parts of a drain may take. */
export interface DrainTimes {
  /** How long load balancers may take to notice that the gateway is not ready. */
  readonly minMs: number;
  /** How long current requests may take after that. */
  readonly timeoutMs: number;
}

/** The data plane of one process. */
export class Gateway {
  readonly #pools = new UpstreamPools();
  readonly #streams = new OpenStreams();
  readonly #configuration: ServedConfiguration;
  readonly #open: OpenStages;
  readonly #listeners: ListenerSet;
  #isDraining = false;

  constructor(options: GatewayOptions) {
    const unusedUpstreams = new UnusedUpstreams(this.#pools, options.logger);
    this.#configuration = new ServedConfiguration((changes) => unusedUpstreams.closeAfter(changes));
    const loads = new TargetLoads();
    this.#open = createStages(options, {
      configuration: this.#configuration,
      forwarder: new Forwarder({ pools: this.#pools, loads, streams: this.#streams }),
    });
    this.#listeners = new ListenerSet(handlers(this.#open, options.logger));
  }

  /**
   * Replaces the configuration whole, between requests; those under way keep theirs. Builds it in
   * time slices, between which requests are served by the configuration before, and at the cost of
   * the changes alone where `difference` begins at the snapshot that is served.
   *
   * Rejects, and changes nothing, when a part of the snapshot cannot be served: `checkResources`
   * finds those that cannot be served at all, `UnservableError` names those that cannot be served
   * beside each other. Rejects as well when another snapshot was applied meanwhile.
   */
  apply(snapshot: Snapshot, difference?: SnapshotDifference): Promise<void> {
    return this.#configuration.apply(snapshot, difference);
  }

  /**
   * Listens on exactly these addresses from now on, and resolves with what was bound. Rejects, and
   * changes nothing, when an address cannot be bound.
   */
  listen(addresses: readonly ListenAddress[]): Promise<readonly ListenAddress[]> {
    return this.#listeners.listen(addresses);
  }

  /** Version of the snapshot that is served; undefined before the first one. */
  version(): string | undefined {
    return this.#configuration.current?.version;
  }

  /** Why no requests should be sent here; undefined when they should. */
  whyNotReady(): UnreadyReason | undefined {
    if (this.#isDraining) return 'draining';
    if (this.#configuration.current === undefined) return 'no snapshot yet';
    return this.#listeners.isListening ? undefined : 'not listening';
  }

  /** Number of connections that clients have. */
  connections(): number {
    return this.#listeners.connections();
  }

  /**
   * Leaves a fleet so that no request fails. The gateway is not ready from now on, and every response
   * is the last of its connection. After `minMs`, when it listens, it stops accepting, closes idle
   * connections, and ends the streams that answer no call: event streams of GET requests, after an
   * event, and WebSockets, with status 1001. Resolves when no connection is left; after another
   * `timeoutMs` event streams of calls are ended, and what is left is closed. `close` closes the rest
   * of the gateway.
   */
  async drain({ minMs, timeoutMs }: DrainTimes): Promise<void> {
    this.#isDraining = true;
    this.#listeners.announceClose();
    // A gateway that does not listen gets no requests, so there is nothing to wait for.
    if (this.#listeners.isListening) await sleep(minMs);
    this.#streams.endListeners();
    await this.#listeners.close(timeoutMs, () => this.#streams.endAll());
  }

  /** Stops accepting, lets requests under way finish for a while, then closes everything. */
  async close(): Promise<void> {
    this.#isDraining = true;
    await this.#listeners.close();
    await this.#pools[Symbol.asyncDispose]();
    this.#open[Symbol.dispose]();
  }
}

/** Serves what listeners receive. The only place that knows the messages of Node's HTTP server. */
function handlers({ stages }: OpenStages, logger: Logger): ListenerHandlers {
  return {
    request(message, response) {
      handleRequest(message, response, stages).catch(giveUp(message.socket, logger));
    },
    upgrade(message, socket, head) {
      handleUpgrade(message, { socket, head }, stages).catch(giveUp(socket, logger));
    },
  };
}

/** The last resort, when even the answer to a failure failed: one connection goes, not the process. */
function giveUp(socket: Duplex, logger: Logger): (error: unknown) => void {
  return (error) => {
    socket.destroy();
    const stack = error instanceof Error ? error.stack : undefined;
    logger.error('request failed unexpectedly', { stack }, error);
  };
}
