import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { errorCode } from '../../../shared/runtime/error-code.ts';
import {
  comparePositions,
  type SnapshotPosition,
} from '../../../shared/snapshot/snapshot-position.ts';
import type { Sealed, Sealer } from '../../crypto/sealer.ts';
import { openSnapshot, sealSnapshot, type SnapshotSeal } from './sealed-snapshot.ts';
import type { PlacedSnapshot, SaveOutcome, SnapshotKeeper } from './snapshot-keeper.ts';

const FILE_NAME = 'last-good-snapshot';
const OWNER_ONLY = 0o600;

/** Thrown if the file does not contain a snapshot of this gateway. */
class SnapshotFileError extends Error {
  override readonly name = 'SnapshotFileError';
}

/**
 * Keeps the last good snapshot in a file, for a process that starts again on the same machine.
 *
 * The directory belongs to one process. `load` rejects if the file does not open, and the next
 * `save` replaces it.
 */
export class FileSnapshotKeeper implements SnapshotKeeper {
  readonly #directory: string;
  readonly #file: string;
  readonly #seal: SnapshotSeal;
  /** Resolves when the last call is done: calls take turns. */
  #last: Promise<unknown> = Promise.resolve();
  /**
   * Undefined: the file was not read yet. Position undefined: any snapshot may replace the file.
   */
  #kept: { readonly position: SnapshotPosition | undefined } | undefined;

  /** `id` identifies the gateway: a file of a different gateway does not open. */
  constructor({
    directory,
    id,
    sealer,
  }: {
    readonly directory: string;
    readonly id: string;
    readonly sealer: Sealer;
  }) {
    this.#directory = directory;
    this.#file = join(directory, FILE_NAME);
    this.#seal = { sealer, context: `snapshot file ${id}` };
  }

  save(placed: PlacedSnapshot): Promise<SaveOutcome> {
    return this.#inTurn(() => this.#save(placed));
  }

  load(): Promise<PlacedSnapshot | undefined> {
    return this.#inTurn(() => this.#load());
  }

  async #save(placed: PlacedSnapshot): Promise<SaveOutcome> {
    this.#kept ??= { position: await this.#positionInFile() };
    const { position } = this.#kept;
    const ahead = position === undefined ? 1 : comparePositions(placed.position, position);
    if (ahead <= 0) return ahead === 0 ? 'same' : 'newer';
    await this.#replace(await sealSnapshot(placed, this.#seal));
    this.#kept = { position: placed.position };
    return 'kept';
  }

  async #positionInFile(): Promise<SnapshotPosition | undefined> {
    try {
      await this.#load();
    } catch (error) {
      if (!(error instanceof SnapshotFileError)) throw error;
    }
    return this.#kept?.position;
  }

  async #load(): Promise<PlacedSnapshot | undefined> {
    this.#kept = undefined;
    const sealed = await this.#read();
    if (sealed === undefined) return undefined;
    try {
      const placed = await openSnapshot(sealed, this.#seal);
      // A snapshot that an older key sealed is sealed again: that key will be removed.
      const isFresh = this.#seal.sealer.isSealedByFirst(sealed);
      this.#kept = { position: isFresh ? placed.position : undefined };
      return placed;
    } catch (error) {
      throw new SnapshotFileError(`${this.#file} cannot be used`, { cause: error });
    }
  }

  async #read(): Promise<string | undefined> {
    try {
      return await readFile(this.#file, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Replaces the file at once: readers see all of the old or all of the new content. */
  async #replace(sealed: Sealed): Promise<void> {
    const next = `${this.#file}.next`;
    await mkdir(this.#directory, { recursive: true });
    // A killed process may have left one.
    await rm(next, { force: true });
    await writeFile(next, sealed, { mode: OWNER_ONLY, flag: 'wx', flush: true });
    await rename(next, this.#file);
  }

  #inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(run);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
