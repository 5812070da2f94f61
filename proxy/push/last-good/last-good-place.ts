import type { Logger } from '../../../shared/telemetry/logger.ts';
import {
  comparePositions,
  type SnapshotPosition,
} from '../../../shared/snapshot/snapshot-position.ts';
import type { PlacedSnapshot, SnapshotKeeper } from '../../store/snapshot/snapshot-keeper.ts';

/** A place where a snapshot may be kept, for who looks there more than once. */
export class LastGoodPlace {
  readonly name: string;
  readonly #keeper: SnapshotKeeper;
  readonly #logger: Logger;
  #asking: Promise<void> | undefined;
  #found: PlacedSnapshot | undefined;
  #lastTaken: SnapshotPosition | undefined;
  #failure: unknown;
  #isFailureLogged = false;

  constructor(name: string, keeper: SnapshotKeeper, logger: Logger) {
    this.name = name;
    this.#keeper = keeper;
    this.#logger = logger;
  }

  /** Why it could not be read when it answered last; undefined when it could. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Looks what is there, once at a time. Never rejects. */
  ask(): Promise<void> {
    this.#asking ??= this.#load().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** What was found, the first time that it is asked for. */
  take(): PlacedSnapshot | undefined {
    const found = this.#found;
    this.#found = undefined;
    if (found === undefined || this.#wasTaken(found)) return undefined;
    this.#lastTaken = found.position;
    return found;
  }

  /** Once until it can be read again. */
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

  #wasTaken({ position }: PlacedSnapshot): boolean {
    return this.#lastTaken !== undefined && comparePositions(position, this.#lastTaken) === 0;
  }
}
