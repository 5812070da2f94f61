import type { Logger } from '../../shared/telemetry/logger.ts';
import type { Tracer } from '../../shared/telemetry/tracing/tracer.ts';
import type { LastGoodFinder } from './last-good/last-good-finder.ts';
import { PushClient } from './push-client.ts';
import type { Serving } from './serving.ts';
import type { UpstreamAuthJournal } from './upstream-auth-journal.ts';

/** Options of a `ControllerLink`. */
export interface ControllerLinkOptions {
  /** URL of the controllers' Service. */
  readonly controller: URL;
  /** File of the authorities (PEM) that the controller's certificate may come from. */
  readonly controllerCa: string;
  /** File of the projected ServiceAccount token. */
  readonly tokenFile: string;
  readonly proxyId: string;
  readonly logger: Logger;
  /** What the controller is told about the upstreams of routes. */
  readonly upstreamAuth: UpstreamAuthJournal;
  /** Traces how snapshots are applied; absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

/**
 * Stays connected to the controller, and searches for a last good snapshot while nothing serves.
 *
 * The snapshot that arrives first is served. The hello names the snapshot that a proxy serves, so the
 * client reconnects after a last good snapshot was found.
 */
export class ControllerLink implements AsyncDisposable {
  readonly #options: ControllerLinkOptions;
  readonly #serving: Serving;
  readonly #searching = new AbortController();
  readonly #restored: Promise<void>;
  #client: PushClient;

  constructor(
    options: ControllerLinkOptions,
    { serving, finder }: { readonly serving: Serving; readonly finder: LastGoodFinder },
  ) {
    this.#options = options;
    this.#serving = serving;
    this.#client = this.#connect();
    this.#restored = serving.served === undefined ? this.#restore(finder) : Promise.resolve();
  }

  /** Whether a stream to the leading controller is open. */
  get isConnected(): boolean {
    return this.#client.isConnected;
  }

  /**
   * Reports to the controller at once if the proxy became ready, or not ready, or began to drain.
   */
  reportStatusChange(): void {
    this.#client.reportStatusChange();
  }

  /** Ends the search for a last good snapshot. */
  stopSearching(): void {
    this.#searching.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopSearching();
    await this.#restored;
    await this.#client.close();
  }

  #connect(): PushClient {
    const { controller, controllerCa, tokenFile, proxyId, ...common } = this.#options;
    return new PushClient({
      url: controller.origin,
      ca: controllerCa,
      tokenFile,
      proxyId,
      serving: this.#serving.served,
      logger: common.logger,
      upstreamAuth: common.upstreamAuth,
      tracer: common.tracer,
      handlers: {
        apply: async (placed, difference) => {
          const rejected = await this.#serving.apply(placed, difference);
          if (rejected.length === 0) this.stopSearching();
          return rejected;
        },
        status: () => this.#serving.status(),
      },
    });
  }

  async #restore(finder: LastGoodFinder): Promise<void> {
    if (!(await finder.keepSearching(this.#searching.signal))) return;
    // Waits for a snapshot that is being applied: the hello must name the snapshot that serves then.
    await this.#client.close();
    this.#client = this.#connect();
  }
}
