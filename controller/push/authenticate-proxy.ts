import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import type { Logger } from '../../shared/process/logger.ts';
import { PUSH_AUDIENCE } from '../../shared/snapshot/push-frames.ts';
import { KubernetesApiError, type KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import { TOKEN_REVIEWS } from '../kubernetes/resource-types.ts';
import { ReviewCache } from './review-cache.ts';
import { SourceBuckets } from './source-buckets.ts';
import { hasEnded, readClaims } from './token-claims.ts';
import { parseTokenReview, type TokenReview } from './token-review.ts';
import { TokenBucket } from './token-bucket.ts';

const SECOND = 1000;
const REVIEW_TIMEOUT_MS = 5 * SECOND;
/** Reviews in a row, and a second from then on: tokens of strangers must not burden the API server. */
const REVIEW_BURST = 100;
const REVIEWS_A_SECOND = 20;
/** The same of one source address: few proxies share one. */
const SOURCE_REVIEW_BURST = 20;
const SOURCE_REVIEWS_A_SECOND = 2;
const CONCURRENT_REVIEWS = 16;

/** Whether who opens a stream is the proxy it says it is. */
export type Authentication =
  | { readonly kind: 'authenticated' }
  | {
      readonly kind: 'refused';
      /** 401: the token is not good; 403: it is not this proxy's; 503: not known at the moment. */
      readonly status: 401 | 403 | 503;
      readonly reason: string;
    };

/** Never rejects. */
export type AuthenticateProxy = (credentials: {
  readonly token: string;
  readonly proxyId: string;
  /** Where it comes from. */
  readonly address: string;
}) => Promise<Authentication>;

export interface ProxyAuthenticatorOptions {
  readonly api: Pick<KubernetesApi, 'create'>;
  /** Namespace and name of the ServiceAccount of the proxies. */
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly logger: Logger;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Milliseconds since the epoch. */
  readonly wallTime?: () => number;
}

/**
 * Asks the API server whose token it is (TokenReview). A proxy's is of the ServiceAccount of the
 * proxies, for the controller as audience, and bound to the pod that the proxy is named after.
 *
 * Nobody is asked about a token that cannot be this proxy's by what it says itself: whoever can reach
 * the controller could otherwise use up the reviews.
 *
 * Fails closed: while the API server is away only tokens that were reviewed a minute ago are good.
 */
export function createProxyAuthenticator(options: ProxyAuthenticatorOptions): AuthenticateProxy {
  const { namespace, serviceAccount } = options;
  const username = `system:serviceaccount:${namespace}:${serviceAccount}`;
  const reviewer = new TokenReviewer(options);
  const wallTime = options.wallTime ?? Date.now;
  return async ({ token, proxyId, address }) => {
    const claims = readClaims(token);
    const now = wallTime();
    if (claims === undefined || hasEnded(claims, now)) return refused(401, 'invalid-token');
    if (!claims.audiences.includes(PUSH_AUDIENCE)) return refused(401, 'wrong-audience');
    if (claims.subject !== username) return refused(403, 'not-a-proxy');
    if (claims.pod !== proxyId) return refused(403, 'not-this-proxy');
    const goodMs = Math.max(0, claims.endsAt - now);
    const review = await reviewer.review({ token, address, goodMs });
    if (review === undefined) return refused(503, 'token-review-unavailable');
    if (!review.isAuthenticated) return refused(401, 'invalid-token');
    if (!review.audiences.includes(PUSH_AUDIENCE)) return refused(401, 'wrong-audience');
    if (review.username !== username) return refused(403, 'not-a-proxy');
    const [pod, ...others] = review.pods;
    if (pod !== proxyId || others.length > 0) return refused(403, 'not-this-proxy');
    return { kind: 'authenticated' };
  };
}

function refused(status: 401 | 403 | 503, reason: string): Authentication {
  return { kind: 'refused', status, reason };
}

/** A token that is to be reviewed. */
interface PresentedToken {
  readonly token: string;
  readonly address: string;
  /** For how long it is good, if it is. */
  readonly goodMs: number;
}

/** Reviews tokens, each once in a while. Knows them by hash only. */
class TokenReviewer {
  readonly #options: ProxyAuthenticatorOptions;
  readonly #now: () => number;
  readonly #cache = new ReviewCache();
  readonly #running = new Map<string, Promise<TokenReview | undefined>>();
  readonly #bucket: TokenBucket;
  readonly #sources: SourceBuckets;
  #isAway = false;

  constructor(options: ProxyAuthenticatorOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#bucket = new TokenBucket(REVIEW_BURST, REVIEWS_A_SECOND / SECOND);
    this.#sources = new SourceBuckets(SOURCE_REVIEW_BURST, SOURCE_REVIEWS_A_SECOND / SECOND);
  }

  /** undefined: it cannot be known at the moment. */
  async review(presented: PresentedToken): Promise<TokenReview | undefined> {
    const hash = createHash('sha256').update(presented.token).digest('hex');
    const cached = this.#cache.get(hash, this.#now());
    if (cached !== undefined) return cached;
    const running = this.#running.get(hash) ?? this.#begin(hash, presented);
    if (running === undefined) return undefined;
    const timeout = new AbortController();
    const { signal } = timeout;
    const late = wait(REVIEW_TIMEOUT_MS, undefined, { signal }).catch(() => undefined);
    try {
      return await Promise.race([running, late]);
    } finally {
      timeout.abort();
    }
  }

  #begin(hash: string, presented: PresentedToken): Promise<TokenReview | undefined> | undefined {
    if (this.#running.size >= CONCURRENT_REVIEWS) return undefined;
    if (!this.#sources.take(presented.address, this.#now())) return undefined;
    if (!this.#bucket.take(this.#now())) return undefined;
    const running = this.#ask(hash, presented).finally(() => this.#running.delete(hash));
    this.#running.set(hash, running);
    return running;
  }

  async #ask(hash: string, { token, goodMs }: PresentedToken): Promise<TokenReview | undefined> {
    try {
      const answer = await this.#options.api.create(TOKEN_REVIEWS, undefined, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token, audiences: [PUSH_AUDIENCE] },
      });
      const review = parseTokenReview(answer);
      this.#cache.put(hash, { goodMs, review }, this.#now());
      this.#isAway = false;
      return review;
    } catch (error) {
      if (!this.#isAway) this.#logFailure(error);
      this.#isAway = true;
      return undefined;
    }
  }

  /** Messages of errors may repeat what was sent: they stay out of the log. */
  #logFailure(error: unknown): void {
    const fields =
      error instanceof KubernetesApiError
        ? { code: error.code, reason: error.reason }
        : { reason: error instanceof Error ? error.name : 'unknown' };
    this.#options.logger.error('tokens of proxies cannot be reviewed', fields);
  }
}
