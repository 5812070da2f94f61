import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import { configurationSteps } from './configuration-steps.ts';
import type { Configuration } from './configuration.ts';
import { changesSince, type ResourceChange, type SnapshotDifference } from './snapshot-changes.ts';
import { inSlices } from './steps.ts';

/** The configuration that serves requests. It is replaced as a whole. */
export class ServedConfiguration {
  readonly #onChange: (changes: readonly ResourceChange[]) => void;
  #current: Configuration | undefined;
  #snapshot: Snapshot | undefined;

  /** `onChange` gets the differences between two snapshots once the second is served. */
  constructor(onChange: (changes: readonly ResourceChange[]) => void) {
    this.#onChange = onChange;
  }

  /** Undefined before the first snapshot. */
  get current(): Configuration | undefined {
    return this.#current;
  }

  /** Throws before the first snapshot. */
  get required(): Configuration {
    if (this.#current === undefined) throw new Error('there is no configuration yet');
    return this.#current;
  }

  /** Replaces the configuration; see `Gateway.apply`. */
  async apply(snapshot: Snapshot, difference?: SnapshotDifference): Promise<void> {
    const before = this.#current;
    const changes = changesSince(this.#snapshot, snapshot, difference);
    const next = await inSlices(configurationSteps(before, snapshot, changes));
    if (this.#current !== before) throw new Error('another snapshot was applied meanwhile');
    this.#current = next;
    this.#snapshot = snapshot;
    this.#onChange(changes);
  }
}
