import { afterEach, describe, expect, it } from '@jest/globals';

import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import {
  StatusWriter,
  type StatusWriterLimits,
} from '../../../../controller/status/status-writer.ts';
import { MemoryApi } from '../../../support/kubernetes/memory-api.ts';
import { ManualClock, settle } from '../../../support/manual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { ReadableControllerMetrics } from '../../../support/metrics/readable-controller-metrics.ts';

const LIMITS: StatusWriterLimits = {
  rate: { perSecond: 50, burst: 100 },
  concurrency: 4,
  settlingMs: 0,
};
const MINUTE = 60_000;
const ends: AbortController[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end.abort();
});

/** A writer of statuses `{ value }` for the routes of `wanted`. */
async function world(limits: Partial<StatusWriterLimits> = {}) {
  const api = new MemoryApi();
  const clock = new ManualClock();
  const logger = recordingLogger();
  const wanted = new Map<string, number>();
  const written: string[] = [];
  const refused: string[] = [];
  const end = new AbortController();
  ends.push(end);
  const leadership = { isCurrent: true, signal: end.signal };
  const writer = new StatusWriter({
    metrics: new ReadableControllerMetrics().status,
    traces: { begin: () => undefined },
    api,
    leadership,
    logger,
    clock,
    limits: { ...LIMITS, ...limits },
    source: {
      write: (key) => {
        const value = wanted.get(key);
        if (value === undefined) return undefined;
        return { type: ROUTES, place: { namespace: 'a', name: key }, status: { value } };
      },
      written: (key, { status }) => {
        written.push(`${key}=${String(status.value)}`);
        if (wanted.get(key) === status.value) wanted.delete(key);
      },
      refused: (key) => void refused.push(key),
    },
  });
  await clock.advance(0);
  const addRoutes = async (...names: string[]) => {
    for (const name of names) await api.create(ROUTES, 'a', { metadata: { name } });
  };
  const write = (key: string, value: number, withinMs = 0) => {
    wanted.set(key, value);
    writer.request(key, withinMs);
  };
  return { api, clock, logger, leadership, end, written, refused, addRoutes, write };
}

function failure(code: number, retryAfter?: number): KubernetesApiError {
  return new KubernetesApiError({ code, reason: 'Failed', retryAfter }, 'failed');
}

/** Makes status writes fail. */
function failWrites(api: MemoryApi, error: () => Error | undefined): void {
  api.before = ({ verb }) => {
    const thrown = verb === 'apply-status' ? error() : undefined;
    if (thrown !== undefined) throw thrown;
  };
}

describe('a status writer', () => {
  it('writes the newest status of a resource once, within its time', async () => {
    const { clock, written, addRoutes, write } = await world();
    await addRoutes('r');
    write('r', 1, 1000);
    await clock.advance(900);
    expect(written).toEqual([]);
    write('r', 2, 1000);
    await clock.advance(100);
    expect(written).toEqual(['r=2']);
  });

  it('writes earlier when a request is more urgent', async () => {
    const { clock, written, addRoutes, write } = await world();
    await addRoutes('r');
    write('r', 1, 5000);
    write('r', 2, 100);
    await clock.advance(100);
    expect(written).toEqual(['r=2']);
    await clock.advance(MINUTE);
    expect(written).toEqual(['r=2']);
  });

  it('has one write in progress for a resource, and the next one follows', async () => {
    const { api, clock, written, addRoutes, write } = await world();
    await addRoutes('r');
    const answer = Promise.withResolvers<undefined>();
    let count = 0;
    api.before = () => {
      count += 1;
      return count === 1 ? answer.promise : undefined;
    };
    write('r', 1);
    await settle();
    write('r', 2);
    write('r', 3);
    await clock.advance(1000);
    expect(count).toBe(1);
    answer.resolve(undefined);
    await settle();
    expect(written).toEqual(['r=1', 'r=3']);
  });

  it('limits the writes in progress', async () => {
    const { api, clock, addRoutes, write } = await world();
    const names = Array.from({ length: 20 }, (_, index) => `r${String(index)}`);
    await addRoutes(...names);
    let underWay = 0;
    let most = 0;
    api.before = async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await settle();
      underWay -= 1;
    };
    for (const name of names) write(name, 1);
    await clock.advance(1000);
    for (let round = 0; round < 20; round += 1) await settle();
    expect(most).toBe(4);
    expect(api.requests.filter(({ verb }) => verb === 'apply-status')).toHaveLength(20);
  });

  it('keeps its rate after a burst', async () => {
    const { clock, written, addRoutes, write } = await world({
      rate: { perSecond: 50, burst: 100 },
    });
    const names = Array.from({ length: 300 }, (_, index) => `r${String(index)}`);
    await addRoutes(...names);
    for (const name of names) write(name, 1);
    for (let round = 0; round < 20; round += 1) await settle();
    expect(written).toHaveLength(100);
    await clock.advance(2000);
    expect(written.length).toBeGreaterThan(190);
    expect(written.length).toBeLessThanOrEqual(200);
    await clock.advance(2100);
    expect(written).toHaveLength(300);
  });

  it('writes nothing during the settling time', async () => {
    const { clock, written, addRoutes, write } = await world({ settlingMs: 5000 });
    await addRoutes('r');
    write('r', 1);
    await clock.advance(4900);
    expect(written).toEqual([]);
    await clock.advance(200);
    expect(written).toEqual(['r=1']);
  });

  it('writes nothing when the leadership is over, even before its signal', async () => {
    const { api, clock, leadership, end, addRoutes, write } = await world();
    await addRoutes('r', 's');
    write('r', 1, 1000);
    leadership.isCurrent = false;
    await clock.advance(2000);
    leadership.isCurrent = true;
    write('s', 1, 1000);
    end.abort();
    await clock.advance(MINUTE);
    expect(api.requests.filter(({ verb }) => verb === 'apply-status')).toHaveLength(0);
  });

  it.each([
    ['an API server that is overloaded', () => failure(429)],
    ['one that fails', () => failure(500)],
    ['a conflict', () => failure(409)],
    ['one that is away', () => new TypeError('fetch failed')],
  ])('retries after %s at growing intervals, and logs that once', async (_, error) => {
    const { api, clock, logger, written, addRoutes, write } = await world();
    await addRoutes('r', 's');
    let isFailing = true;
    failWrites(api, () => (isFailing ? error() : undefined));
    write('r', 1);
    write('s', 1);
    await clock.advance(29_000);
    const attempts = api.requests.filter(
      ({ verb, name }) => verb === 'apply-status' && name === 'r',
    );
    expect(attempts.length).toBeGreaterThan(3);
    expect(attempts.length).toBeLessThan(8);
    expect(logger.records).toHaveLength(1);
    isFailing = false;
    await clock.advance(MINUTE);
    expect(written.toSorted()).toEqual(['r=1', 's=1']);
  });

  it('waits as long as the API server asks, also with a newer status', async () => {
    const { api, clock, written, addRoutes, write } = await world();
    await addRoutes('r');
    let failures = 1;
    failWrites(api, () => {
      failures -= 1;
      return failures === 0 ? failure(429, 7) : undefined;
    });
    write('r', 1);
    await clock.advance(1000);
    write('r', 2);
    await clock.advance(5900);
    expect(written).toEqual([]);
    await clock.advance(200);
    expect(written).toEqual(['r=2']);
  });

  it('waits after a failure also with a request that came during the write', async () => {
    const { api, clock, addRoutes, write } = await world();
    await addRoutes('r');
    const answer = Promise.withResolvers<undefined>();
    api.before = () => answer.promise;
    write('r', 1);
    await settle();
    write('r', 2);
    answer.reject(failure(429, 7));
    await clock.advance(6900);
    const attempts = () => api.requests.filter(({ verb }) => verb === 'apply-status');
    expect(attempts()).toHaveLength(1);
    await clock.advance(200);
    expect(attempts()).toHaveLength(2);
  });

  it('writes other statuses while one fails', async () => {
    const { api, clock, written, addRoutes, write } = await world();
    await addRoutes('bad', 'r');
    api.before = ({ verb, name }) => {
      if (verb === 'apply-status' && name === 'bad') throw failure(500);
    };
    write('bad', 1);
    for (let value = 1; value <= 5; value += 1) {
      write('r', value);
      await clock.advance(1000);
    }
    expect(written).toEqual(['r=1', 'r=2', 'r=3', 'r=4', 'r=5']);
  });

  it('forgets a deleted resource', async () => {
    const { api, clock, logger, write } = await world();
    write('gone', 1);
    await clock.advance(MINUTE);
    expect(api.requests).toHaveLength(1);
    expect(logger.records).toEqual([]);
  });

  it('gives up a status that the API server refuses', async () => {
    const { api, clock, refused, logger, addRoutes, write } = await world();
    await addRoutes('r');
    failWrites(api, () => failure(422));
    write('r', 1);
    await clock.advance(MINUTE);
    expect(refused).toEqual(['r']);
    expect(logger.records).toMatchObject([{ level: 'error', fields: { resource: 'a/r' } }]);
  });

  it('logs once that it is not allowed to write, and retries now and then', async () => {
    const { api, clock, written, logger, addRoutes, write } = await world();
    await addRoutes('r', 's');
    let isGranted = false;
    failWrites(api, () => (isGranted ? undefined : failure(403)));
    write('r', 1);
    write('s', 1);
    await clock.advance(2 * MINUTE);
    expect(logger.records).toHaveLength(1);
    expect(api.requests.filter(({ verb }) => verb === 'apply-status').length).toBeLessThan(12);
    isGranted = true;
    await clock.advance(MINUTE);
    expect(written.toSorted()).toEqual(['r=1', 's=1']);
  });

  it('writes other statuses while some writes never get a response', async () => {
    const { api, clock, written, addRoutes, write } = await world();
    await addRoutes('a', 'b', 'c', 'd', 'r');
    api.before = ({ name }) => (name === 'r' ? undefined : new Promise(() => undefined));
    for (const name of ['a', 'b', 'c', 'd', 'r']) write(name, 1);
    await clock.advance(MINUTE);
    expect(written).toEqual(['r=1']);
  });
});
