import { monotonicClock, type Clock } from '../../../shared/runtime/clock.ts';
import { PUSH_AUDIENCE } from '../../../shared/snapshot/push-frames.ts';
import { hasExpired, readClaims } from '../../kubernetes/token-claims.ts';
import { tokenHolder } from './token-holder.ts';
import { TokenReviewer, type TokenReviewerOptions } from './token-reviewer.ts';

/** Whether a token belongs to the proxy that presents it. */
export type Authentication =
  | { readonly kind: 'authenticated' }
  | {
      readonly kind: 'refused';
      /** 401: invalid token; 403: the token of another holder; 503: cannot be checked at the moment. */
      readonly status: 401 | 403 | 503;
      readonly reason: string;
      /** The holder of the token and the expected holder, for the log. */
      readonly detail?: Readonly<Record<string, string>>;
    };

/** Authenticates a proxy. Never rejects. */
export type AuthenticateProxy = (credentials: {
  readonly token: string;
  readonly proxyId: string;
  /** Source address of the request. */
  readonly address: string;
}) => Promise<Authentication>;

/** Options of `createProxyAuthenticator`. */
export interface ProxyAuthenticatorOptions extends Omit<TokenReviewerOptions, 'clock'> {
  /** Namespace and name of the ServiceAccount of the proxies. */
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly clock?: Clock;
  /** Milliseconds since 1970. */
  readonly wallTime?: () => number;
}

/**
 * Authenticates proxies by a TokenReview on the API server. The token must be for the ServiceAccount
 * of the proxies and the controller as audience, and bound to the pod that the proxy is named after.
 *
 * A token with claims that rule this out is not reviewed: otherwise anyone who can reach the controller
 * could use up the reviews.
 *
 * Fails closed: without the API server, only tokens that were reviewed within a minute are accepted.
 */
export function createProxyAuthenticator(options: ProxyAuthenticatorOptions): AuthenticateProxy {
  const { namespace, serviceAccount, clock = monotonicClock } = options;
  const username = `system:serviceaccount:${namespace}:${serviceAccount}`;
  const reviewer = new TokenReviewer({ ...options, clock });
  const wallTime = options.wallTime ?? Date.now;
  return async ({ token, proxyId, address }) => {
    const claims = readClaims(token);
    const now = wallTime();
    if (claims === undefined || hasExpired(claims, now)) return refused(401, 'invalid-token');
    const expected = { account: `${namespace}/${serviceAccount}`, username, proxyId };
    const mismatch = mismatchOf(claims, expected);
    if (mismatch !== undefined) return mismatch;
    const validMs = Math.max(0, claims.expiresAt - now);
    const review = await reviewer.review({ token, address, validMs });
    if (review === undefined) return refused(503, 'token-review-unavailable');
    if (!review.isAuthenticated) return refused(401, 'invalid-token');
    const { audiences, username: subject, pods } = review;
    const pod = pods.length > 1 ? null : pods[0];
    return mismatchOf({ audiences, subject, pod }, expected) ?? { kind: 'authenticated' };
  };
}

/** The holder of a token: by its own claims, and then by the API server. */
interface Holder {
  readonly audiences: readonly unknown[];
  readonly subject: unknown;
  readonly pod: unknown;
}

/** The holder that the token must have. */
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
