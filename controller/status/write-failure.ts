import { KubernetesApiError } from '../kubernetes/kubernetes-api.ts';

/** What to do about a write that failed. */
export type WriteFailure =
  /** The object is gone. */
  | { readonly kind: 'gone' }
  /** The API server will not take this status, whenever it is sent. */
  | { readonly kind: 'invalid' }
  /** This process may not, until somebody grants it. */
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'again'; readonly retryAfterMs: number | undefined };

const SECOND = 1000;
const NOT_FOUND = 404;
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
/** Bad Request, Content Too Large, Unprocessable Content. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

/** Judges why a write failed. Whatever is not known to be in vain is tried again. */
export function judgeFailure(error: unknown): WriteFailure {
  if (!(error instanceof KubernetesApiError)) return { kind: 'again', retryAfterMs: undefined };
  const { code, retryAfter } = error;
  if (code === NOT_FOUND) return { kind: 'gone' };
  if (REFUSALS.has(code)) return { kind: 'invalid' };
  if (code === FORBIDDEN || code === UNAUTHORIZED) return { kind: 'forbidden' };
  return {
    kind: 'again',
    retryAfterMs: retryAfter === undefined ? undefined : retryAfter * SECOND,
  };
}
