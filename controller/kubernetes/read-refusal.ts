import type { Dispatcher } from 'undici';

import { KubernetesApiError } from './kubernetes-api.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';

/** What a response says that is not a success: from its `Status`, as far as it has one. */
export async function readRefusal(
  response: Dispatcher.ResponseData,
  what: string,
): Promise<KubernetesApiError> {
  // A proxy in between answers with pages of its own, and a body may break off.
  const body = await response.body.text().catch(() => '');
  const after = response.headers['retry-after'];
  return refusalOf(parseStatus(body), {
    code: response.statusCode,
    retryAfter: typeof after === 'string' ? secondsOf(after) : undefined,
    what,
  });
}

/** The error in a `Status`. What it does not say is taken from `otherwise`. */
export function refusalOf(
  status: unknown,
  otherwise: {
    readonly code: number;
    readonly retryAfter?: number | undefined;
    readonly what: string;
  },
): KubernetesApiError {
  const told = isRecord(status) && status['kind'] === 'Status' ? status : {};
  const details = isRecord(told['details']) ? told['details'] : {};
  const code = typeof told['code'] === 'number' ? told['code'] : otherwise.code;
  const reason = typeof told['reason'] === 'string' ? told['reason'] : '';
  const message = typeof told['message'] === 'string' ? told['message'] : `status ${String(code)}`;
  const seconds = details['retryAfterSeconds'];
  return new KubernetesApiError(
    {
      code,
      reason,
      retryAfter: otherwise.retryAfter ?? (typeof seconds === 'number' ? seconds : undefined),
    },
    `${otherwise.what}: ${message}`,
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
