import { createHash } from 'node:crypto';

import { pause, type Clock } from '../../../shared/runtime/clock.ts';
import { TokenBucket } from '../../../shared/runtime/token-bucket.ts';
import { PUSH_AUDIENCE } from '../../../shared/snapshot/push-frames.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import { KubernetesApiError, type KubernetesApi } from '../../kubernetes/kubernetes-api.ts';
import { TOKEN_REVIEWS } from '../../kubernetes/resource-types.ts';
import { ReviewCache } from './review-cache.ts';
import { SourceBuckets } from './source-buckets.ts';
import { parseTokenReview, type TokenReview } from './token-review.ts';

const SECOND = 1000;
const REVIEW_TIMEOUT_MS = 5 * SECOND;
/** Limits for all tokens, so that tokens of strangers do not overload the API server. */
const REVIEWS = { burst: 100, perSecond: 20 };
/** Limits per source address: few proxies share one. */
const REVIEWS_PER_SOURCE = { burst: 20, perSecond: 2 };
const MAX_CONCURRENT_REVIEWS = 16;

/** Options of a token reviewer. */
export interface TokenReviewerOptions {
  readonly api: Pick<KubernetesApi, 'create'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A token to be reviewed. */
export interface PresentedToken {
  readonly token: string;
  /** Source address of the request. */
  readonly address: string;
  /** How long the token is valid, if it is valid. */
  readonly validMs: number;
}

/** Reviews tokens on the API server, within limits. Keeps hashes of tokens only. */
export class TokenReviewer {
  readonly #options: TokenReviewerOptions;
  readonly #cache = new ReviewCache();
  readonly #running = new Map<string, Promise<TokenReview | undefined>>();
  readonly #bucket = new TokenBucket(REVIEWS);
  readonly #sources = new SourceBuckets(REVIEWS_PER_SOURCE);
  #isFailing = false;

  constructor(options: TokenReviewerOptions) {
    this.#options = options;
  }

  /** Returns undefined if the token cannot be reviewed at the moment. Never rejects. */
  async review(presented: PresentedToken): Promise<TokenReview | undefined> {
    const { clock } = this.#options;
    const hash = createHash('sha256').update(presented.token).digest('hex');
    const cached = this.#cache.get(hash, clock.now());
    if (cached !== undefined) return cached;
    const running = this.#running.get(hash) ?? this.#begin(hash, presented);
    if (running === undefined) return undefined;
    const answered = new AbortController();
    const late = pause(clock, REVIEW_TIMEOUT_MS, answered.signal).then(() => undefined);
    try {
      return await Promise.race([running, late]);
    } finally {
      answered.abort();
    }
  }

  #begin(hash: string, presented: PresentedToken): Promise<TokenReview | undefined> | undefined {
    const now = this.#options.clock.now();
    if (this.#running.size >= MAX_CONCURRENT_REVIEWS) return undefined;
    if (!this.#sources.take(presented.address, now)) return undefined;
    if (!this.#bucket.take(now)) return undefined;
    const running = this.#request(hash, presented).finally(() => this.#running.delete(hash));
    this.#running.set(hash, running);
    return running;
  }

  async #request(
    hash: string,
    { token, validMs }: PresentedToken,
  ): Promise<TokenReview | undefined> {
    const { api, clock } = this.#options;
    try {
      const response = await api.create(TOKEN_REVIEWS, undefined, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token, audiences: [PUSH_AUDIENCE] },
      });
      const review = parseTokenReview(response);
      this.#cache.put(hash, { validMs, review }, clock.now());
      this.#isFailing = false;
      return review;
    } catch (error) {
      if (!this.#isFailing) this.#logFailure(error);
      this.#isFailing = true;
      return undefined;
    }
  }

  /** Leaves out the message of the error, which may repeat the token. */
  #logFailure(error: unknown): void {
    const fields =
      error instanceof KubernetesApiError
        ? { code: error.code, reason: error.reason }
        : { reason: error instanceof Error ? error.name : 'unknown' };
    this.#options.logger.error('cannot review tokens of proxies', fields);
  }
}
