import type { ApiMetrics, ApiOutcome, ApiVerb } from '../telemetry/api-metrics.ts';
import { CONFLICT, FORBIDDEN, NOT_FOUND, TOO_MANY_REQUESTS, UNAUTHORIZED } from './error-codes.ts';
import {
  KubernetesApiError,
  type KubernetesApi,
  type ResourceType,
  type Scope,
  type WatchEvent,
} from './kubernetes-api.ts';

const MS_PER_SECOND = 1000;

const OUTCOMES: Readonly<Record<number, ApiOutcome>> = {
  [UNAUTHORIZED]: 'forbidden',
  [FORBIDDEN]: 'forbidden',
  [NOT_FOUND]: 'not-found',
  [CONFLICT]: 'conflict',
  [TOO_MANY_REQUESTS]: 'throttled',
};

/** Returns an API that sends what `api` sends, and counts and times it. */
export function meteredApi(api: KubernetesApi, metrics: ApiMetrics): KubernetesApi {
  const timed = async <Result>(
    verb: ApiVerb,
    request: Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> => {
    const answered = timer(metrics, verb);
    try {
      const result = await request;
      answered('ok');
      return result;
    } catch (error) {
      answered(outcomeOf(error, signal));
      throw error;
    }
  };
  return {
    list: (type, scope, page) => timed('list', api.list(type, scope, page), page?.signal),
    watch: (type, scope, options) => watch({ api, metrics }, { type, scope }, options),
    get: (type, place) => timed('get', api.get(type, place)),
    create: (type, namespace, object) => timed('create', api.create(type, namespace, object)),
    replace: (type, place, object) => timed('replace', api.replace(type, place, object)),
    applyStatus: (type, place, status) =>
      timed('apply-status', api.applyStatus(type, place, status)),
    readIssuer: (signal) => timed('read-issuer', api.readIssuer(signal), signal),
  };
}

/** The request ends when the watch is open. */
async function* watch(
  { api, metrics }: { readonly api: KubernetesApi; readonly metrics: ApiMetrics },
  { type, scope }: { readonly type: ResourceType; readonly scope: Scope },
  options: Parameters<KubernetesApi['watch']>[2],
): AsyncGenerator<WatchEvent, void> {
  const answered = timer(metrics, 'watch');
  const onOpen = (): void => {
    answered('ok');
    options.onOpen?.();
  };
  try {
    yield* api.watch(type, scope, { ...options, onOpen });
    // A watch that was aborted ends without an error.
    answered('cancelled');
  } catch (error) {
    answered(outcomeOf(error, options.signal));
    throw error;
  }
}

/** Returns a function that records the answer to a request that begins now. Only its first call counts. */
function timer(metrics: ApiMetrics, verb: ApiVerb): (outcome: ApiOutcome) => void {
  const startedAt = performance.now();
  let isAnswered = false;
  return (outcome) => {
    if (isAnswered) return;
    isAnswered = true;
    metrics.answered(verb, outcome, (performance.now() - startedAt) / MS_PER_SECOND);
  };
}

function outcomeOf(error: unknown, signal: AbortSignal | undefined): ApiOutcome {
  if (!(error instanceof KubernetesApiError)) {
    return signal?.aborted === true ? 'cancelled' : 'unreachable';
  }
  return OUTCOMES[error.code] ?? (error.code < 500 ? 'refused' : 'failed');
}
