import type { ListenAddress } from '../../shared/runtime/listen-address.ts';
import { formatAddress } from '../../shared/runtime/listen-address.ts';
import type { RejectedResource } from '../../shared/snapshot/rejected-resource.ts';
import { formatPosition, type SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { checkResources } from '../configuration/check-resources.ts';
import { changesSince, type SnapshotDifference } from '../configuration/snapshot-changes.ts';
import { UnservableError } from '../configuration/unservable-error.ts';
import type { Gateway } from '../gateway.ts';
import type { PlacedSnapshot } from '../store/snapshot/snapshot-keeper.ts';
import type { LastGood } from './last-good/last-good.ts';
import type { ProxyStatus } from './controller-stream.ts';

/** Options of a `Serving`. */
export interface ServingOptions {
  readonly gateway: Gateway;
  readonly lastGood: LastGood;
  readonly listen: readonly ListenAddress[];
  readonly logger: Logger;
}

/** Serves one snapshot at a time. The gateway listens from the first one on. */
export class Serving {
  readonly #options: ServingOptions;
  readonly #failure = Promise.withResolvers<never>();
  readonly #opened = Promise.withResolvers<undefined>();
  #served: PlacedSnapshot | undefined;
  /** Resolves when the previous snapshot is applied: snapshots take turns. */
  #turn: Promise<unknown> = Promise.resolve();
  #opening: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: ServingOptions) {
    this.#options = options;
    // Callers that read `failed` handle the error.
    this.#failure.promise.catch(() => undefined);
  }

  /** Rejects if there is a snapshot to serve and a port cannot be opened. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  /** Resolves once the gateway listens. */
  get listening(): Promise<void> {
    return this.#opened.promise;
  }

  /** The snapshot that serves; undefined before the first. */
  get served(): PlacedSnapshot | undefined {
    return this.#served;
  }

  isReady(): boolean {
    return this.#options.gateway.whyNotReady() === undefined;
  }

  whyNotReady(): string | undefined {
    return this.#options.gateway.whyNotReady();
  }

  snapshot(): Snapshot | undefined {
    return this.#served?.snapshot;
  }

  position(): SnapshotPosition | undefined {
    return this.#served?.position;
  }

  /** Status of the proxy, for the controller. */
  status(): ProxyStatus {
    const { gateway } = this.#options;
    return {
      ready: this.isReady(),
      draining: gateway.whyNotReady() === 'draining',
      conns: gateway.connections(),
    };
  }

  /** Serves a last good snapshot. Resolves with false if it cannot be served, or another serves. */
  async serveLastGood(placed: PlacedSnapshot): Promise<boolean> {
    return await this.#inTurn(() => this.#serveLastGood(placed));
  }

  /**
   * Serves a snapshot of the controller, and saves it as last good. Resolves with the resources
   * that cannot be served: then the previous snapshot keeps serving.
   */
  async apply(
    placed: PlacedSnapshot,
    difference?: SnapshotDifference,
  ): Promise<readonly RejectedResource[]> {
    const rejected = await this.#inTurn(() => this.#serve(placed, difference));
    if (rejected.length === 0) this.#options.lastGood.save(placed);
    return rejected;
  }

  /** Prevents the first snapshot from opening ports. Resolves when no port is being opened. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#opening;
  }

  async #inTurn<Result>(serve: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(serve);
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }

  async #serveLastGood(placed: PlacedSnapshot): Promise<boolean> {
    // A snapshot that was pushed while this one waited is at least as new.
    if (this.#served !== undefined) return false;
    const { logger } = this.#options;
    try {
      const [first] = await this.#serve(placed);
      if (first === undefined) return true;
      logger.warn('last good snapshot cannot be served', { first });
    } catch (error) {
      logger.warn('last good snapshot cannot be served', {}, error);
    }
    return false;
  }

  async #serve(
    placed: PlacedSnapshot,
    difference?: SnapshotDifference,
  ): Promise<readonly RejectedResource[]> {
    const { snapshot, position } = placed;
    const rejected = await this.#applyToGateway(snapshot, difference);
    if (rejected.length > 0) return rejected;
    const isFirst = this.#served === undefined;
    this.#served = placed;
    this.#options.logger.info('configuration applied', {
      position: formatPosition(position),
      version: snapshot.version,
      resources: snapshot.resources.size,
    });
    if (isFirst && !this.#isStopped) this.#opening = this.#listen();
    return [];
  }

  /**
   * Resolves with the resources that the gateway cannot serve; if there are any, nothing changes.
   */
  async #applyToGateway(
    snapshot: Snapshot,
    difference: SnapshotDifference | undefined,
  ): Promise<readonly RejectedResource[]> {
    const since = this.#served?.snapshot;
    if (snapshot === since) return [];
    const changes = changesSince(since, snapshot, difference);
    const rejected = await checkResources(changes.flatMap(({ after }) => after ?? []));
    if (rejected.length > 0) return rejected;
    try {
      await this.#options.gateway.apply(snapshot, { since, changes });
      return [];
    } catch (error) {
      if (error instanceof UnservableError) return error.rejected;
      throw error;
    }
  }

  async #listen(): Promise<void> {
    const { gateway, listen, logger } = this.#options;
    try {
      const addresses = await gateway.listen(listen);
      logger.info('listening', { addresses: addresses.map(formatAddress) });
      this.#opened.resolve(undefined);
    } catch (error) {
      this.#failure.reject(error);
    }
  }
}
