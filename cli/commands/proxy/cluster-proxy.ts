import { Sealer } from '../../../proxy/crypto/sealer.ts';
import { createGateway, type Gateway } from '../../../proxy/gateway.ts';
import { LastGood, loadLastGood, type LastGoodPlaces } from '../../../proxy/push/last-good.ts';
import { followController, type ControllerFollower } from '../../../proxy/push/push-client.ts';
import type { RefusedResource } from '../../../proxy/push/snapshot-receiver.ts';
import { startAdminServer } from '../../../proxy/server/admin-server.ts';
import { checkResources } from '../../../proxy/server/check-resources.ts';
import { FileSnapshotKeeper } from '../../../proxy/store/file/file-snapshot-keeper.ts';
import { RedisSnapshotKeeper } from '../../../proxy/store/redis/redis-snapshot-keeper.ts';
import type { RedisTarget } from '../../../proxy/store/redis/redis-target.ts';
import type { PlacedSnapshot } from '../../../proxy/store/snapshot-keeper.ts';
import type { LineWriter } from '../../../shared/process/line-writer.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { formatPosition } from '../../../shared/snapshot/snapshot-position.ts';
import { formatAddress } from '../../process/listen-addresses.ts';
import { listening } from '../../process/listening.ts';
import { openState, type State } from '../../process/open-state.ts';
import { findProcessKeys } from '../../process/process-keys.ts';
import type { ProxyOptions } from './proxy-options.ts';

export interface ClusterProxyOptions extends Omit<ProxyOptions, 'redis'> {
  readonly redis: RedisTarget;
  readonly logger: Logger;
  readonly lines: LineWriter;
}

/** A proxy that serves what a controller pushes. Disposing of it closes everything. */
export interface ClusterProxy extends AsyncDisposable {
  /** Rejects with a `CommandFailure` when there is a snapshot, and the ports cannot be had. */
  readonly failed: Promise<never>;
  /** Leaves the fleet: no request that comes here before others know of it is lost. */
  drain(): Promise<void>;
}

/**
 * Starts it: with what it served before, if that is kept anywhere, and with what the controller
 * pushes from then on. It listens once there is something to serve.
 *
 * Throws `CommandFailure` when the admin port cannot be had, keys cannot be read, or Redis refuses.
 */
export async function startClusterProxy(options: ClusterProxyOptions): Promise<ClusterProxy> {
  const { logger } = options;
  const keys = await findProcessKeys({ ...options, stateDirectory: undefined }, logger);
  await using opening = new AsyncDisposableStack();
  const sealer = new Sealer(keys.sealingKeys);
  const state = opening.use(await openState(options, sealer));
  const gateway = createGateway({
    ...options,
    devAllowLoopback: false,
    sealingKeys: keys.sealingKeys,
    defaultSigningKeys: keys.assertionKeys,
    stores: state.stores,
  });
  opening.defer(() => gateway.close());
  const places = placesOf(options, state, sealer);
  const lastGood = opening.use(new LastGood(places, { logger }));
  const serving = new Serving(gateway, lastGood, options);
  const admin = await listening(startAdminServer(options.adminListen, serving));
  opening.defer(() => admin.close());
  logger.info('started', { admin: formatAddress(admin.address), proxy: options.proxyId });

  const kept = await loadLastGood(places, logger);
  const isKeptServed = kept !== undefined && serving.serveKept(kept);
  const follower = followController({
    url: options.controller.origin,
    ca: options.controllerCa,
    tokenFile: options.tokenFile,
    proxyId: options.proxyId,
    serving: isKeptServed ? kept : undefined,
    logger,
    handlers: {
      apply: (placed) => serving.apply(placed),
      status: () => serving.status(),
    },
  });
  serving.follower = follower;
  opening.defer(() => follower.close());
  const open = opening.move();
  return {
    failed: serving.failed,
    async drain() {
      const { drainDelayMs: minMs, drainTimeoutMs: timeoutMs } = options;
      const drained = gateway.drain({ minMs, timeoutMs });
      follower.tellStatus();
      await drained;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function placesOf(
  { gateway: id, cacheDirectory }: ClusterProxyOptions,
  { redis }: State,
  sealer: Sealer,
): LastGoodPlaces {
  return {
    ...(cacheDirectory !== undefined && {
      file: new FileSnapshotKeeper({ directory: cacheDirectory, id, sealer }),
    }),
    ...(redis !== undefined && { redis: new RedisSnapshotKeeper(redis, { id, sealer }) }),
  };
}

/** What this proxy serves, and how ready it is. */
class Serving {
  readonly #gateway: Gateway;
  readonly #lastGood: LastGood;
  readonly #options: ClusterProxyOptions;
  readonly #failure = Promise.withResolvers<never>();
  #placed: PlacedSnapshot | undefined;
  follower: ControllerFollower | undefined;

  constructor(gateway: Gateway, lastGood: LastGood, options: ClusterProxyOptions) {
    this.#gateway = gateway;
    this.#lastGood = lastGood;
    this.#options = options;
    // Whoever waits for it hears of it.
    this.#failure.promise.catch(() => undefined);
  }

  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  isReady(): boolean {
    return this.#gateway.whyNotReady() === undefined;
  }

  whyNotReady(): string | undefined {
    return this.#gateway.whyNotReady();
  }

  snapshot(): PlacedSnapshot['snapshot'] | undefined {
    return this.#placed?.snapshot;
  }

  position(): PlacedSnapshot['position'] | undefined {
    return this.#placed?.position;
  }

  status(): { readonly ready: boolean; readonly draining: boolean; readonly conns: number } {
    return {
      ready: this.isReady(),
      draining: this.#gateway.whyNotReady() === 'draining',
      conns: this.#gateway.connections(),
    };
  }

  /** Serves what was kept; false when this release cannot. */
  serveKept(placed: PlacedSnapshot): boolean {
    const refused = this.#serve(placed);
    if (refused.length === 0) return true;
    this.#options.logger.warn('last good snapshot cannot be served', { first: refused[0] });
    return false;
  }

  /** Serves what was pushed, and keeps it. */
  apply(placed: PlacedSnapshot): readonly RefusedResource[] {
    const refused = this.#serve(placed);
    if (refused.length === 0) this.#lastGood.applied(placed);
    return refused;
  }

  #serve(placed: PlacedSnapshot): readonly RefusedResource[] {
    const { snapshot, position } = placed;
    const before = this.#placed?.snapshot.resources;
    const changed = [...snapshot.resources.values()].filter(
      (resource) => before?.get(resource.key) !== resource,
    );
    const refused = checkResources(changed);
    if (refused.length > 0) return refused;
    if (snapshot !== this.#placed?.snapshot) this.#gateway.apply(snapshot);
    const isFirst = this.#placed === undefined;
    this.#placed = placed;
    this.#options.logger.info('configuration applied', {
      position: formatPosition(position),
      version: snapshot.version,
      resources: snapshot.resources.size,
    });
    if (isFirst) this.#listen();
    return [];
  }

  #listen(): void {
    const { listen, logger } = this.#options;
    listening(this.#gateway.listen(listen)).then(
      (addresses) => {
        logger.info('listening', { addresses: addresses.map(formatAddress) });
        this.follower?.tellStatus();
      },
      (error: unknown) => this.#failure.reject(error),
    );
  }
}
