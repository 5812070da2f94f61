import { isDeepStrictEqual } from 'node:util';

import { pause, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { ClusterIssuer, ClusterIssuerReading } from '../kubernetes/cluster-issuer.ts';
import { KubernetesApiError, type KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import { UnusableIssuerError } from '../kubernetes/parse-cluster-issuer.ts';

const SECOND = 1000;

/**
 * How long a removed key is still accepted, and a new one not yet. API servers have no watch for this, and
 * a new key comes with their restart only.
 */
const INTERVAL_MS = 60 * SECOND;
const RETRY_MS = 5 * SECOND;

/** Options of a ClusterIssuerWatch. */
export interface ClusterIssuerWatchOptions {
  readonly api: Pick<KubernetesApi, 'readIssuer'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the API server answers something else than before. */
  readonly onReading: (reading: ClusterIssuerReading) => void;
}

/**
 * Reads the issuer of the cluster and its keys again and again.
 *
 * What was read stays known while the API server cannot be reached. A refusal is reported, since nothing
 * shows then whether the keys are still in use.
 */
export class ClusterIssuerWatch implements AsyncDisposable {
  readonly #options: ClusterIssuerWatchOptions;
  readonly #ended = new AbortController();
  readonly #answered = Promise.withResolvers<undefined>();
  readonly #running: Promise<void>;
  #known: ClusterIssuer | undefined;
  #reported: ClusterIssuerReading | undefined;
  #isFailing = false;

  constructor(options: ClusterIssuerWatchOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Resolves once the API server has answered, even if it refused. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      const isRead = await this.#read();
      await pause(this.#options.clock, isRead ? INTERVAL_MS : RETRY_MS, signal);
    }
  }

  async #read(): Promise<boolean> {
    const { api, logger } = this.#options;
    const { signal } = this.#ended;
    try {
      this.#known = await api.readIssuer(signal);
      if (this.#isFailing) logger.info('the issuer of the cluster can be read again');
      this.#isFailing = false;
      this.#report();
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (!this.#isFailing) logger.warn('cannot read the issuer of the cluster', {}, error);
      this.#isFailing = true;
      if (isAnswer(error)) this.#report(error.message);
      return false;
    }
  }

  #report(failure?: string): void {
    if (this.#ended.signal.aborted) return;
    const known = this.#known;
    const reading = { ...(known && { known }), ...(failure !== undefined && { failure }) };
    if (!isDeepStrictEqual(reading, this.#reported)) this.#options.onReading(reading);
    this.#reported = reading;
    this.#answered.resolve(undefined);
  }
}

/** An overloaded API server may answer otherwise the next time. */
function isAnswer(error: unknown): error is Error {
  if (error instanceof KubernetesApiError) return error.code < 500 && error.code !== 429;
  return error instanceof UnusableIssuerError;
}
