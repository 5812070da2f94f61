import type {
  PlacedSnapshot,
  SaveOutcome,
  SnapshotKeeper,
} from '../../../proxy/store/snapshot/snapshot-keeper.ts';

/** A keeper that records the sequence of every snapshot it is asked to save, and can be made to fail. */
export class RecordingKeeper implements SnapshotKeeper {
  readonly saves: number[] = [];
  loads = 0;
  stored: PlacedSnapshot | undefined;
  failure: Error | undefined;
  outcome: SaveOutcome = 'kept';
  /** Saves wait for it. */
  hold: Promise<unknown> = Promise.resolve();

  async save({ position }: PlacedSnapshot): Promise<SaveOutcome> {
    this.saves.push(position.sequence);
    await this.hold;
    if (this.failure !== undefined) throw this.failure;
    return this.outcome;
  }

  load(): Promise<PlacedSnapshot | undefined> {
    this.loads += 1;
    return this.failure === undefined ? Promise.resolve(this.stored) : Promise.reject(this.failure);
  }
}
