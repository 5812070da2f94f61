import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import type { Logger } from '../../../shared/telemetry/logger.ts';
import { TokenBucket } from '../../../shared/runtime/token-bucket.ts';
import { PUSH_AUDIENCE } from '../../../shared/snapshot/push-frames.ts';
import { KubernetesApiError, type KubernetesApi } from '../../kubernetes/kubernetes-api.ts';
import { TOKEN_REVIEWS } from '../../kubernetes/resource-types.ts';
import { ReviewCache } from './review-cache.ts';
import { SourceBuckets } from './source-buckets.ts';
import { hasEnded, readClaims } from './token-claims.ts';
import { tokenHolder } from './token-holder.ts';
import { parseTokenReview, type TokenReview } from './token-review.ts';

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
      /** Whose token it is, and what was expected instead, for the log. */
      readonly detail?: Readonly<Record<string, string>>;
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
    const expected = { account: `${namespace}/${serviceAccount}`, username, proxyId };
    const mismatch = mismatchOf(claims, expected);
    if (mismatch !== undefined) return mismatch;
    const goodMs = Math.max(0, claims.endsAt - now);
    const review = await reviewer.review({ token, address, goodMs });
    if (review === undefined) return refused(503, 'token-review-unavailable');
    if (!review.isAuthenticated) return refused(401, 'invalid-token');
    const { audiences, username: subject, pods } = review;
    const pod = pods.length > 1 ? null : pods[0];
    return mismatchOf({ audiences, subject, pod }, expected) ?? { kind: 'authenticated' };
  };
}

/** Whose token it is: by itself, and then by the API server. */
interface Holder {
  readonly audiences: readonly unknown[];
  readonly subject: unknown;
  readonly pod: unknown;
}

/** Whose it must be. */
interface ExpectedHolder {
  readonly username: string;
  /** The same as `namespace/name`. */
  readonly account: string;
  readonly proxyId: string;
}

function mismatchOf(holder: Holder, expected: ExpectedHolder): Authentication | undefined {
  const { tokenOf, pod, audience } = tokenHolder(holder);
  if (!holder.audiences.includes(PUSH_AUDIENCE)) {
    return refused(401, 'wrong-audience', { tokenOf, audience, expected: PUSH_AUDIENCE });
  }
  if (holder.subject !== expected.username) {
    return refused(403, 'not-a-proxy', { tokenOf, expected: expected.account });
  }
  return holder.pod === expected.proxyId
    ? undefined
    : refused(403, 'not-this-proxy', { tokenOf, pod, expected: expected.proxyId });
}

function refused(
  status: 401 | 403 | 503,
  reason: string,
  detail?: Readonly<Record<string, string>>,
): Authentication {
  return { kind: 'refused', status, reason, ...(detail !== undefined && { detail }) };
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
    this.#bucket = new TokenBucket({ burst: REVIEW_BURST, perSecond: REVIEWS_A_SECOND });
    this.#sources = new SourceBuckets({
      burst: SOURCE_REVIEW_BURST,
      perSecond: SOURCE_REVIEWS_A_SECOND,
    });
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
