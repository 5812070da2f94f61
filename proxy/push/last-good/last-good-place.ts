import {
  comparePositions,
  type SnapshotPosition,
} from '../../../shared/snapshot/snapshot-position.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import type { PlacedSnapshot, SnapshotKeeper } from '../../store/snapshot/snapshot-keeper.ts';

/** A place that may store a last good snapshot, and the results of its reads. */
export class LastGoodPlace {
  readonly name: string;
  readonly #keeper: SnapshotKeeper;
  readonly #logger: Logger;
  #reading: Promise<void> | undefined;
  #found: PlacedSnapshot | undefined;
  #lastReturned: SnapshotPosition | undefined;
  #failure: unknown;
  #isFailureLogged = false;

  constructor(name: string, keeper: SnapshotKeeper, logger: Logger) {
    this.name = name;
    this.#keeper = keeper;
    this.#logger = logger;
  }

  /** Why the last read failed; undefined if it succeeded. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Reads the place, one read at a time. Never rejects. */
  read(): Promise<void> {
    this.#reading ??= this.#load().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Returns the snapshot that was read, once for each position. */
  nextFound(): PlacedSnapshot | undefined {
    const found = this.#found;
    this.#found = undefined;
    if (found === undefined || this.#wasReturned(found)) return undefined;
    this.#lastReturned = found.position;
    return found;
  }

  /** Logs that the last read failed, once until a read succeeds. */
  logFailure(): void {
    if (this.#failure === undefined || this.#isFailureLogged) return;
    this.#isFailureLogged = true;
    const fields = { place: this.name };
    this.#logger.warn('last good snapshot cannot be read', fields, this.#failure);
  }

  async #load(): Promise<void> {
    try {
      this.#found = await this.#keeper.load();
      this.#failure = undefined;
      this.#isFailureLogged = false;
    } catch (error) {
      this.#failure = error;
    }
  }

  #wasReturned({ position }: PlacedSnapshot): boolean {
    return this.#lastReturned !== undefined && comparePositions(position, this.#lastReturned) === 0;
  }
}
