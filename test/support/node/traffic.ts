import { setTimeout as wait } from 'node:timers/promises';
import { inspect } from 'node:util';

const PAUSE_MS = 20;
const SECOND = 1000;

/** One client, which sends its requests one after another. */
export interface TrafficSource {
  readonly name: string;
  /** Sends one request. Rejects if the answer is not the right one. */
  readonly send: () => Promise<void>;
}

/** Clients that send requests while something else happens. */
export class Traffic implements AsyncDisposable {
  readonly #clients: readonly Promise<void>[];
  readonly #failures: string[] = [];
  readonly #began = performance.now();
  #requests = 0;
  #isStopped = false;

  constructor(sources: readonly TrafficSource[]) {
    this.#clients = sources.map(async (source) => this.#run(source));
  }

  /** Number of requests so far. */
  get requests(): number {
    return this.#requests;
  }

  /** Which requests failed so far, when and how. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** Stops after the requests that are under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
  }

  async #run({ name, send }: TrafficSource): Promise<void> {
    while (!this.#isStopped) {
      this.#requests += 1;
      const sent = performance.now();
      try {
        await send();
      } catch (error) {
        const failed = performance.now();
        const times = `sent after ${seconds(sent - this.#began)}, failed in ${seconds(failed - sent)}`;
        this.#failures.push(`${name}, ${times}: ${inspect(error)}`);
      }
      await wait(PAUSE_MS);
    }
  }
}

function seconds(ms: number): string {
  return `${(ms / SECOND).toFixed(2)} s`;
}

/** Requests for a URL, each of which must be answered with 200. */
export function requestsFor(
  name: string,
  url: string,
  send: typeof fetch,
  init: RequestInit = {},
): TrafficSource {
  return {
    name,
    send: async () => {
      const response = await send(url, init);
      const body = await response.text();
      if (response.status !== 200) throw new Error(`${String(response.status)} ${body}`);
    },
  };
}
