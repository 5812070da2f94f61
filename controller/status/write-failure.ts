import { FORBIDDEN, NOT_FOUND, UNAUTHORIZED } from '../kubernetes/error-codes.ts';
import { KubernetesApiError } from '../kubernetes/kubernetes-api.ts';

/** Why a write failed, which decides whether it is retried. */
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
/** Bad Request, Content Too Large, Unprocessable Content. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

/** Classifies the error of a write. A write is retried unless the same error is certain to return. */
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
