import { KubernetesApiError } from '../kubernetes/kubernetes-api.ts';

/** Why a write failed, and so what to do about it. */
export type WriteFailure =
  /** The resource does not exist. */
  | { readonly kind: 'gone' }
  /** The API server will never accept this status. */
  | { readonly kind: 'refused' }
  /** The process lacks the permission. */
  | { readonly kind: 'forbidden' }
  /** Another attempt may succeed. */
  | { readonly kind: 'retry'; readonly retryAfterMs: number | undefined };

const SECOND = 1000;
const NOT_FOUND = 404;
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
/** Bad Request, Content Too Large, Unprocessable Content. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

/** Classifies the error of a write. A write is retried unless that is known to be in vain. */
export function classifyWriteError(error: unknown): WriteFailure {
  if (!(error instanceof KubernetesApiError)) return { kind: 'retry', retryAfterMs: undefined };
  const { code, retryAfter } = error;
  if (code === NOT_FOUND) return { kind: 'gone' };
  if (REFUSALS.has(code)) return { kind: 'refused' };
  if (code === FORBIDDEN || code === UNAUTHORIZED) return { kind: 'forbidden' };
  return {
    kind: 'retry',
    retryAfterMs: retryAfter === undefined ? undefined : retryAfter * SECOND,
  };
}
