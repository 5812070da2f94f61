import type { ServerResponse } from 'node:http';

import type { Change, Collection } from './collection.ts';
import { apiVersionOf } from './resource-definition.ts';
import type { Selector } from './selectors.ts';
import { expired, type StatusError } from './status-error.ts';

const SECOND = 1_000;
/** A client that reads too slowly is disconnected, as by a real API server. */
const MOST_BYTES_WAITING = 32 * 1024 * 1024;

export interface WatchOptions {
  /** Begins after this version; undefined begins with the present objects. */
  readonly since: number | undefined;
  readonly selects: Selector;
  readonly timeoutSeconds: number;
  /** Undefined for a client that does not ask for bookmarks. */
  readonly bookmarkIntervalMs: number | undefined;
  /** The newest version. */
  readonly currentRevision: () => number;
}

/** Returns why a watch cannot begin at a version; undefined if it can. */
export function whyNotFrom(
  collection: Collection,
  since: number | undefined,
): StatusError | undefined {
  if (since === undefined || collection.changesSince(since) !== undefined) return undefined;
  const first = String(collection.forgottenBefore);
  return expired(`too old resource version: ${String(since)} (${first})`);
}

/** Begins a watch that ends at once with an error. */
export function failWatch(response: ServerResponse, error: StatusError): void {
  response.writeHead(200, WATCH_HEADERS);
  response.end(`${JSON.stringify({ type: 'ERROR', object: error.toStatus() })}\n`);
}

const WATCH_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-cache, private',
};

/** An open watch: sends changes to a client in lines, until one of the two ends it. */
export class Watch {
  readonly #collection: Collection;
  readonly #response: ServerResponse;
  readonly #options: WatchOptions;
  #isMuted = false;

  constructor(collection: Collection, response: ServerResponse, options: WatchOptions) {
    this.#collection = collection;
    this.#response = response;
    this.#options = options;
  }

  /** Begins with the changes that the client missed. */
  start(): void {
    const { since, selects, bookmarkIntervalMs, timeoutSeconds } = this.#options;
    this.#response.writeHead(200, WATCH_HEADERS);
    this.#response.flushHeaders();
    if (since === undefined) {
      for (const { object, text } of this.#collection.all()) {
        if (selects(object)) this.#write('ADDED', text);
      }
    } else {
      for (const change of this.#collection.changesSince(since) ?? []) this.#tell(change);
    }
    const unsubscribe = this.#collection.subscribe((change) => {
      if (change.revision > (since ?? 0)) this.#tell(change);
    });
    const bookmarks =
      bookmarkIntervalMs === undefined
        ? undefined
        : setInterval(() => this.#bookmark(), bookmarkIntervalMs);
    const end = setTimeout(() => this.#end(), timeoutSeconds * SECOND);
    this.#response.once('close', () => {
      unsubscribe();
      clearInterval(bookmarks);
      clearTimeout(end);
    });
  }

  /** Ends the watch without an event. */
  cut(): void {
    this.#response.destroy();
  }

  /** Keeps the watch open, and sends nothing more. */
  mute(): void {
    this.#isMuted = true;
  }

  #end(): void {
    if (this.#isMuted) return;
    if (this.#options.bookmarkIntervalMs !== undefined) this.#bookmark();
    this.#response.end();
  }

  #tell(change: Change): void {
    const type = eventType(change, this.#options.selects);
    if (type !== undefined) this.#write(type, change.stored.text);
  }

  #bookmark(): void {
    const { definition } = this.#collection;
    const resourceVersion = String(this.#options.currentRevision());
    const metadata = { resourceVersion, creationTimestamp: null };
    const object = { kind: definition.kind, apiVersion: apiVersionOf(definition), metadata };
    this.#write('BOOKMARK', JSON.stringify(object));
  }

  #write(type: string, text: string): void {
    if (this.#isMuted) return;
    this.#response.write(`{"type":"${type}","object":${text}}\n`);
    if (this.#response.writableLength > MOST_BYTES_WAITING) this.#response.destroy();
  }
}

/** An object that begins or ceases to be selected is added or deleted for the client. */
function eventType(
  { type, stored, previous }: Change,
  selects: Selector,
): Change['type'] | undefined {
  const was = previous !== undefined && selects(previous.object);
  const is = type !== 'DELETED' && selects(stored.object);
  if (was && is) return 'MODIFIED';
  if (was) return 'DELETED';
  return is ? 'ADDED' : undefined;
}
