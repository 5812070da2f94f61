import type { Gateway } from '../gateway.ts';
import type { LastGood } from './last-good/last-good.ts';
import type { RejectedResource } from '../../shared/snapshot/rejected-resource.ts';
import { checkResources } from '../configuration/check-resources.ts';
import type { ListenAddress } from '../../shared/runtime/listen-address.ts';
import { changesSince, type SnapshotDifference } from '../configuration/snapshot-changes.ts';
import { UnservableError } from '../configuration/unservable-error.ts';
import type { PlacedSnapshot } from '../store/snapshot/snapshot-keeper.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { formatPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import { formatAddress } from '../../shared/runtime/listen-address.ts';

export interface ServingOptions {
  readonly gateway: Gateway;
  readonly lastGood: LastGood;
  readonly listen: readonly ListenAddress[];
  readonly logger: Logger;
}

/** What this proxy serves, and how ready it is. It listens from the first snapshot on. */
export class Serving {
  readonly #options: ServingOptions;
  readonly #failure = Promise.withResolvers<never>();
  #placed: PlacedSnapshot | undefined;
  /** One snapshot is made ready at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  #listening: Promise<void> = Promise.resolve();
  #isEnding = false;
  /** Told when it listens. */
  onListening: () => void = () => undefined;

  constructor(options: ServingOptions) {
    this.#options = options;
    // Whoever waits for it hears of it.
    this.#failure.promise.catch(() => undefined);
  }

  /** Rejects when there is a snapshot to serve and a port cannot be opened. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  /** What serves. */
  get placed(): PlacedSnapshot | undefined {
    return this.#placed;
  }

  isReady(): boolean {
    return this.#options.gateway.whyNotReady() === undefined;
  }

  whyNotReady(): string | undefined {
    return this.#options.gateway.whyNotReady();
  }

  snapshot(): PlacedSnapshot['snapshot'] | undefined {
    return this.#placed?.snapshot;
  }

  position(): PlacedSnapshot['position'] | undefined {
    return this.#placed?.position;
  }

  status(): { readonly ready: boolean; readonly draining: boolean; readonly conns: number } {
    const { gateway } = this.#options;
    return {
      ready: this.isReady(),
      draining: gateway.whyNotReady() === 'draining',
      conns: gateway.connections(),
    };
  }

  /** Serves what was kept; false when this release cannot, or when something serves already. */
  async serveKept(placed: PlacedSnapshot): Promise<boolean> {
    return await this.#inTurn(() => this.#serveKept(placed));
  }

  /** Serves what was pushed, and keeps it. The difference is the one that it was pushed as. */
  async apply(
    placed: PlacedSnapshot,
    difference?: SnapshotDifference,
  ): Promise<readonly RejectedResource[]> {
    const refused = await this.#inTurn(() => this.#serve(placed, difference));
    if (refused.length === 0) this.#options.lastGood.applied(placed);
    return refused;
  }

  /** From now on a first snapshot opens no port. Resolves when none is being opened. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#listening;
  }

  async #inTurn<Result>(serve: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(serve);
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }

  async #serveKept(placed: PlacedSnapshot): Promise<boolean> {
    // What was pushed while this one was waiting is not older.
    if (this.#placed !== undefined) return false;
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
    const refused = await this.#refusedOf(snapshot, difference);
    if (refused.length > 0) return refused;
    const isFirst = this.#placed === undefined;
    this.#placed = placed;
    this.#options.logger.info('configuration applied', {
      position: formatPosition(position),
      version: snapshot.version,
      resources: snapshot.resources.size,
    });
    if (isFirst && !this.#isEnding) this.#listening = this.#listen();
    return [];
  }

  /** Has the gateway serve it, unless there is something that it cannot. */
  async #refusedOf(
    snapshot: Snapshot,
    difference: SnapshotDifference | undefined,
  ): Promise<readonly RejectedResource[]> {
    const since = this.#placed?.snapshot;
    if (snapshot === since) return [];
    const changes = changesSince(since, snapshot, difference);
    const refused = await checkResources(changes.flatMap(({ after }) => after ?? []));
    if (refused.length > 0) return refused;
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
      this.onListening();
    } catch (error) {
      this.#failure.reject(error);
    }
  }
}
