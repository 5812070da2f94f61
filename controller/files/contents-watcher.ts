import { watch, type FSWatcher } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

import type { Logger } from '../../shared/telemetry/logger.ts';
import { directoriesOf, readContents, type Contents } from './read-contents.ts';
import { readSettled, type SettledReader } from './read-settled.ts';

/** Writers that replace or truncate a file need a moment; what they leave behind is read after it. */
const HOLDOFF_MS = 100;
/** Events can be missed: network file systems, links that change far away. */
const POLL_MS = 750;

export interface ContentsWatcherOptions {
  readonly path: string;
  readonly contents: Contents;
  readonly onChange: (contents: Contents) => void | Promise<void>;
  readonly logger: Logger;
  /** How often to look without an event. */
  readonly pollMs?: number;
}

/**
 * Tells of changes to a configuration, each within a second.
 *
 * A change is told when two readings, a holdoff apart, agree: a file that is half written when it
 * is first read would otherwise take routes away for a moment. `onChange` is never called twice at
 * a time. While the path itself is missing nothing changes.
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

  /** Resolves when nothing will be told any more. */
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
      if (contents !== undefined) await this.#tell(contents);
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
        logger.error('configuration is missing, the last one keeps serving', { path }, error);
      }
      this.#isMissing = true;
      return undefined;
    }
  }

  async #tell(contents: Contents): Promise<void> {
    if (this.#isClosed) return;
    this.#contents = contents;
    this.#watchDirectories();
    try {
      await this.#options.onChange(contents);
    } catch (error) {
      this.#options.logger.error('configuration could not be applied', {}, error);
    }
  }

  /** Keeps one watcher a directory. Polling covers a directory that cannot be watched. */
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
