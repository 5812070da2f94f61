import type { LastGoodFinder } from './last-good/last-good-finder.ts';
import { followController, type ControllerFollower } from './push-client.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { Serving } from './serving.ts';

/** What is needed to follow a controller. */
export interface ControllerLinkOptions {
  /** URL of the controllers' Service. */
  readonly controller: URL;
  /** File of the certificates that sign for the controllers. */
  readonly controllerCa: string;
  /** File of the projected ServiceAccount token. */
  readonly tokenFile: string;
  readonly proxyId: string;
  readonly logger: Logger;
}

/**
 * Follows the controller, and looks on for a kept snapshot as long as nothing serves.
 *
 * What comes first is served. A controller learns in the hello what a proxy has: so it is told anew of
 * one that was found after that.
 */
export class ControllerLink implements AsyncDisposable {
  readonly #options: ControllerLinkOptions;
  readonly #serving: Serving;
  readonly #ending = new AbortController();
  readonly #restored: Promise<void>;
  #follower: ControllerFollower;

  constructor(
    options: ControllerLinkOptions,
    { serving, finder }: { readonly serving: Serving; readonly finder: LastGoodFinder },
  ) {
    this.#options = options;
    this.#serving = serving;
    this.#follower = this.#follow();
    this.#restored = serving.placed === undefined ? this.#restore(finder) : Promise.resolve();
  }

  /** Tells the controller how the proxy is, if it did not know. */
  tellStatus(): void {
    this.#follower.tellStatus();
  }

  /** What is kept is of no use any more. */
  stopLooking(): void {
    this.#ending.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopLooking();
    await this.#restored;
    await this.#follower.close();
  }

  #follow(): ControllerFollower {
    const { controller, controllerCa, tokenFile, proxyId, logger } = this.#options;
    return followController({
      url: controller.origin,
      ca: controllerCa,
      tokenFile,
      proxyId,
      serving: this.#serving.placed,
      logger,
      handlers: {
        apply: async (placed, difference) => {
          const refused = await this.#serving.apply(placed, difference);
          if (refused.length === 0) this.stopLooking();
          return refused;
        },
        status: () => this.#serving.status(),
      },
    });
  }

  async #restore(finder: LastGoodFinder): Promise<void> {
    if (!(await finder.goOn(this.#ending.signal))) return;
    // A snapshot that is being applied ends first: what serves then is what the controller hears of.
    await this.#follower.close();
    this.#follower = this.#follow();
  }
}
