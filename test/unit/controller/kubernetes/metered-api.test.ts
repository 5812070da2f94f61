import { beforeEach, describe, expect, test } from '@jest/globals';

import { connectKubernetes } from '../../../../controller/kubernetes/connect-kubernetes.ts';
import {
  KubernetesApiError,
  type KubernetesApi,
} from '../../../../controller/kubernetes/kubernetes-api.ts';
import { meteredApi } from '../../../../controller/kubernetes/metered-api.ts';
import { LEASES, ROUTES, SERVICES } from '../../../../controller/kubernetes/resource-types.ts';
import { freePort } from '../../../support/free-port.ts';
import { MemoryApi } from '../../../support/kubernetes/memory-api.ts';
import { ScriptedApiServer } from '../../../support/kubernetes/scripted-api-server.ts';
import { ReadableControllerMetrics } from '../../../support/metrics/readable-controller-metrics.ts';

const PLACE = { namespace: 'a', name: 'b' };

let metrics: ReadableControllerMetrics;
beforeEach(() => {
  metrics = new ReadableControllerMetrics();
});

function count(verb: string, outcome: string): number | undefined {
  return metrics.value('api_request_duration_seconds_count', { verb, outcome });
}

/** An API whose requests fail with this error. */
function failingApi(error: Error): KubernetesApi {
  const fail = (): Promise<never> => Promise.reject(error);
  const watch = { [Symbol.asyncIterator]: () => ({ next: fail }) };
  return meteredApi(
    {
      ...{ list: fail, get: fail, create: fail, replace: fail, applyStatus: fail },
      ...{ readIssuer: fail, watch: () => watch },
    },
    metrics.api,
  );
}

function refusal(code: number): KubernetesApiError {
  return new KubernetesApiError({ code, reason: 'Some' }, 'refused');
}

describe('requests to the API server', () => {
  test('are counted by verb, and answer what the server answers', async () => {
    const { server, api } = await ScriptedApiServer.start();
    await using closing = new AsyncDisposableStack();
    closing.use(server);
    const memory = new MemoryApi();
    const metered = meteredApi(
      {
        ...api,
        get: (...call) => memory.get(...call),
        create: (...call) => memory.create(...call),
      },
      metrics.api,
    );
    const page = await metered.list(SERVICES, {});
    const over = new AbortController();
    const options = {
      timeoutSeconds: 10,
      resourceVersion: page.resourceVersion,
      signal: over.signal,
    };
    let opened = 0;
    const events = metered.watch(SERVICES, {}, { ...options, onOpen: () => (opened += 1) });
    const first = events[Symbol.asyncIterator]().next();
    setTimeout(() => server.bookmark(), 50);
    expect(await first).toMatchObject({ value: { type: 'BOOKMARK' } });
    expect(opened).toBe(1);
    await metered.create(LEASES, 'a', { metadata: { name: 'b' } });
    expect(await metered.get(LEASES, PLACE)).toMatchObject({ metadata: { name: 'b' } });
    over.abort();

    expect(['list', 'watch', 'create', 'get'].map((verb) => count(verb, 'ok'))).toEqual([
      1, 1, 1, 1,
    ]);
  });

  test.each([
    [401, 'forbidden'],
    [403, 'forbidden'],
    [404, 'not-found'],
    [409, 'conflict'],
    [410, 'refused'],
    [422, 'refused'],
    [429, 'throttled'],
    [500, 'failed'],
    [503, 'failed'],
  ])('that get %d are %s', async (code, outcome) => {
    const api = failingApi(refusal(code));
    await expect(api.list(ROUTES, {})).rejects.toThrow('refused');
    await expect(api.applyStatus(ROUTES, PLACE, {})).rejects.toThrow('refused');

    expect(count('list', outcome)).toBe(1);
    expect(count('apply-status', outcome)).toBe(1);
  });

  test('for a watch that cannot be opened count with why', async () => {
    const options = {
      timeoutSeconds: 1,
      resourceVersion: '1',
      signal: new AbortController().signal,
    };
    const events = failingApi(refusal(410)).watch(ROUTES, {}, options)[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toThrow('refused');

    expect(count('watch', 'refused')).toBe(1);
  });

  test('without an answer are unreachable, unless the process gave them up', async () => {
    const port = await freePort();
    const server = `http://127.0.0.1:${String(port)}`;
    const credentials = () => Promise.resolve({ tls: {}, headers: {} });
    const api = meteredApi(
      connectKubernetes({ server, credentials, ...{ proxy: undefined, namespace: undefined } }),
      metrics.api,
    );
    await expect(api.get(LEASES, PLACE)).rejects.toThrow();
    await expect(api.list(ROUTES, {}, { signal: AbortSignal.abort() })).rejects.toThrow();

    expect(count('get', 'unreachable')).toBe(1);
    expect(count('list', 'cancelled')).toBe(1);
  });
});
