import { describe, expect, test } from '@jest/globals';

import { StatusTraces } from '../../../../controller/telemetry/status-traces.ts';
import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { routeVerdict } from '../../../support/verdicts.ts';
import { recordSpans } from '../../../support/tracing/recorded-spans.ts';
import { MINUTE, world } from '../status/status-loop-world.ts';

describe('the writes of statuses', () => {
  test('are spans of the change that led to them, and say what went wrong', async () => {
    const { tracer, spans } = recordSpans();
    const { api, loop, clock } = await world();
    let refusals = 1;
    api.before = ({ verb }) => {
      if (verb !== 'apply-status' || refusals === 0) return;
      refusals -= 1;
      throw new KubernetesApiError({ code: 500, reason: 'InternalError' }, 'it hurts');
    };
    const trace = tracer.start('change', 'internal');
    loop.reportRoutes(new Map([['team-a/files', routeVerdict()]]), trace);
    trace?.span?.end();
    await clock.advance(5000);
    const writes = spans.filter(({ name }) => name === 'status write');

    expect(writes).toHaveLength(2);
    expect(new Set(writes.map(({ traceId }) => traceId))).toEqual(
      new Set([trace?.context.traceId]),
    );
    expect(writes.map(({ error }) => error)).toEqual(['KubernetesApiError: it hurts', undefined]);
    expect(writes[1]?.attributes).toEqual({
      'gatehouse.resource.key': 'route/team-a/files',
    });
    await clock.advance(MINUTE);
    loop.reportRoutes(new Map([['team-a/files', routeVerdict({ generation: 2 })]]));
    await clock.advance(MINUTE);
    expect(spans).toHaveLength(3);
  });

  test('of a change to many Routes have a few spans', () => {
    const { tracer } = recordSpans();
    let now = 0;
    const traces = new StatusTraces(() => now);
    const keys = Array.from({ length: 10_000 }, (_, index) => `route/team-a/${String(index)}`);
    traces.changed(keys, tracer.start('change', 'internal'));

    expect(keys.filter((key) => traces.begin(key) !== undefined)).toHaveLength(10);
    now = 30_001;
    expect(keys.filter((key) => traces.begin(key) !== undefined)).toHaveLength(0);
  });

  test('of many changes at a time have spans within a bound', () => {
    const { tracer } = recordSpans();
    const traces = new StatusTraces(() => 0);
    const keys = Array.from({ length: 1000 }, (_, index) => `route/team-a/${String(index)}`);
    for (const key of keys) traces.changed([key], tracer.start('change', 'internal'));

    expect(keys.filter((key) => traces.begin(key) !== undefined)).toEqual(keys.slice(-256));
  });
});
