import type { Dispatcher } from 'undici';

import { KubernetesApiError } from './kubernetes-api.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';

/** Reads the error from a response, from the `Status` in its body if there is one. */
export async function readApiError(
  response: Dispatcher.ResponseData,
  request: string,
): Promise<KubernetesApiError> {
  // An intermediate proxy sends bodies of its own, and a body may be cut.
  const body = await response.body.text().catch(() => '');
  const after = response.headers['retry-after'];
  return parseApiError(parseStatus(body), {
    code: response.statusCode,
    retryAfter: typeof after === 'string' ? secondsOf(after) : undefined,
    request,
  });
}

/** Parses the error in a `Status`. Members that it lacks are taken from `fallback`. */
export function parseApiError(
  status: unknown,
  fallback: {
    readonly code: number;
    readonly retryAfter?: number | undefined;
    readonly request: string;
  },
): KubernetesApiError {
  const known = isRecord(status) && status['kind'] === 'Status' ? status : {};
  const details = isRecord(known['details']) ? known['details'] : {};
  const code = typeof known['code'] === 'number' ? known['code'] : fallback.code;
  const reason = typeof known['reason'] === 'string' ? known['reason'] : '';
  const message =
    typeof known['message'] === 'string' ? known['message'] : `status ${String(code)}`;
  const seconds = details['retryAfterSeconds'];
  return new KubernetesApiError(
    {
      code,
      reason,
      retryAfter: fallback.retryAfter ?? (typeof seconds === 'number' ? seconds : undefined),
    },
    `${fallback.request}: ${message}`,
  );
}

function parseStatus(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The API server sends seconds, never a date. */
function secondsOf(retryAfter: string): number | undefined {
  return /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined;
}
