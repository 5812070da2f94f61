import { watch, type FSWatcher } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

import type { Logger } from '../../shared/telemetry/logger.ts';
import { directoriesOf, readContents, type Contents } from './read-contents.ts';
import { readSettled, type SettledReader } from './read-settled.ts';

/** Time for writers that replace or truncate a file to finish. */
const HOLDOFF_MS = 100;
/** Changes on network file systems and in targets of links cause no event. */
const POLL_MS = 750;

/** Options of a ContentsWatcher. */
export interface ContentsWatcherOptions {
  readonly path: string;
  readonly contents: Contents;
  readonly onChange: (contents: Contents) => void | Promise<void>;
  readonly logger: Logger;
  /** The interval of checks without an event. */
  readonly pollMs?: number;
}

/**
 * Reports changes of a configuration, each within a second.
 *
 * A change is reported when two readings, a holdoff apart, agree: otherwise a half-written file would
 * remove routes for a moment. Calls of `onChange` do not overlap. While the path itself is missing,
 * nothing is reported.
 */
export class ContentsWatcher {
  readonly #options: ContentsWatcherOptions;
  readonly #reader: SettledReader = {
    read: () => this.#read(),
    pause: () => setTimeout(HOLDOFF_MS),
  };
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #running: Promise<void>;
  #contents: Contents;
  #isClosed = false;
  #isMissing = false;
  #hasEvent = false;
  #wake: () => void = () => undefined;

  constructor(options: ContentsWatcherOptions) {
    this.#options = options;
    this.#contents = options.contents;
    this.#watchDirectories();
    this.#running = this.#run();
  }

  /** Stops watching. Resolves after the last call of `onChange`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      await this.#pauseUntilEvent();
      if (this.#hasEvent) await setTimeout(HOLDOFF_MS);
      this.#hasEvent = false;
      const contents = await readSettled(this.#contents, this.#reader);
      if (contents !== undefined) await this.#report(contents);
    }
  }

  async #read(): Promise<Contents | undefined> {
    try {
      const contents = await readContents(this.#options.path, this.#contents);
      this.#isMissing = false;
      return contents;
    } catch (error) {
      if (!this.#isMissing) {
        const { path, logger } = this.#options;
        logger.error('configuration not found, the last good one keeps serving', { path }, error);
      }
      this.#isMissing = true;
      return undefined;
    }
  }

  async #report(contents: Contents): Promise<void> {
    if (this.#isClosed) return;
    this.#contents = contents;
    this.#watchDirectories();
    try {
      await this.#options.onChange(contents);
    } catch (error) {
      this.#options.logger.error('cannot apply configuration', {}, error);
    }
  }

  /** Keeps one watcher per directory. Polling covers directories that cannot be watched. */
  #watchDirectories(): void {
    const directories = directoriesOf(this.#options.path, this.#contents);
    for (const [directory, watcher] of this.#watchers) {
      if (directories.includes(directory)) continue;
      watcher.close();
      this.#watchers.delete(directory);
    }
    for (const directory of directories) {
      if (this.#watchers.has(directory)) continue;
      const watcher = watchDirectory(directory, () => this.#noteEvent());
      if (watcher !== undefined) this.#watchers.set(directory, watcher);
    }
  }

  #noteEvent(): void {
    this.#hasEvent = true;
    this.#wake();
  }

  async #pauseUntilEvent(): Promise<void> {
    if (this.#hasEvent || this.#isClosed) return;
    const interruption = new AbortController();
    this.#wake = () => interruption.abort();
    const { signal } = interruption;
    await setTimeout(this.#options.pollMs ?? POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

function watchDirectory(directory: string, onEvent: () => void): FSWatcher | undefined {
  try {
    return watch(directory, onEvent).on('error', () => undefined);
  } catch {
    return undefined;
  }
}
