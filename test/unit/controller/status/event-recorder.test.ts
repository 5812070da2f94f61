import { describe, expect, it } from '@jest/globals';

import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import type { InvolvedObject } from '../../../../controller/status/event-object.ts';
import { EventRecorder } from '../../../../controller/status/event-recorder.ts';
import { MemoryApi } from '../../../support/kubernetes/memory-api.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

const MINUTE = 60_000;
const WARNING = { type: 'Warning', reason: 'InvalidPolicy', message: 'spec.policy: no' } as const;
const ACCEPTED = { type: 'Normal', reason: 'Accepted', message: 'It is accepted.' } as const;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function world() {
  const api = new MemoryApi();
  const clock = new ManualClock();
  const logger = recordingLogger();
  const wallTime = () => clock.wallTime();
  const recorder = new EventRecorder({ api, clock, logger, wallTime, identity: 'pod_1' });
  const leadership = new AbortController();
  const end = () => leadership.abort();
  return { api, clock, logger, recorder, signal: leadership.signal, end };
}

/** Of a leadership that does not end. */
const LASTING = new AbortController().signal;

function regarding(name: string): InvolvedObject {
  return { type: ROUTES, namespace: 'team-a', name, uid: `uid-${name}` };
}

/** Refuses a Route and accepts it, in turn. */
async function talk(recorder: EventRecorder, count: number, signal: AbortSignal): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const announcement = index % 2 === 0 ? WARNING : ACCEPTED;
    await recorder.record(regarding('files'), announcement, signal);
  }
}

function nameIn(event: unknown): string {
  return (event as { readonly involvedObject: { readonly name: string } }).involvedObject.name;
}

function reasonsOf({ requests }: MemoryApi): readonly unknown[] {
  return requests.map(({ object }) => (object as { readonly reason?: unknown }).reason);
}

describe('an event recorder', () => {
  it('writes an Event beside the object', async () => {
    const { api, recorder } = world();
    await recorder.record(regarding('files'), WARNING, LASTING);
    expect(api.requests).toMatchObject([{ verb: 'create', plural: 'events' }]);
    expect(api.requests[0]?.object).toMatchObject({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'team-a', name: expect.stringMatching(/^files\.[0-9a-f]{16}$/) },
      involvedObject: {
        apiVersion: 'gatehouse.dev/v1alpha1',
        kind: 'Route',
        namespace: 'team-a',
        name: 'files',
        uid: 'uid-files',
      },
      type: 'Warning',
      reason: 'InvalidPolicy',
      message: 'spec.policy: no',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:01Z',
      lastTimestamp: '2026-01-01T00:00:01Z',
      source: { component: 'gatehouse' },
      reportingInstance: 'pod_1',
    });
  });

  it('repeats the last Event about an object after ten minutes', async () => {
    const { api, clock, recorder } = world();
    await recorder.record(regarding('files'), WARNING, LASTING);
    await recorder.record(regarding('files'), WARNING, LASTING);
    await recorder.record(regarding('other'), WARNING, LASTING);
    expect(api.requests).toHaveLength(2);
    await clock.advance(10 * MINUTE);
    await recorder.record(regarding('files'), WARNING, LASTING);
    expect(api.requests).toHaveLength(3);
  });

  it('says at once what else is wrong for the same reason', async () => {
    const { api, recorder } = world();
    await recorder.record(regarding('files'), WARNING, LASTING);
    await recorder.record(regarding('files'), { ...WARNING, message: 'spec.mcp: no' }, LASTING);
    expect(api.requests).toMatchObject([
      { object: { message: 'spec.policy: no' } },
      { object: { message: 'spec.mcp: no' } },
    ]);
  });

  it('ends with the Event that is true, however often the opposite is true in between', async () => {
    const { api, clock, recorder } = world();
    for (let round = 0; round < 2; round += 1) {
      await recorder.record(regarding('files'), WARNING, LASTING);
      await clock.advance(1000);
      await recorder.record(regarding('files'), ACCEPTED, LASTING);
      await clock.advance(1000);
    }
    await recorder.record(regarding('files'), WARNING, LASTING);
    expect(reasonsOf(api)).toEqual([
      ...['InvalidPolicy', 'Accepted', 'InvalidPolicy', 'Accepted', 'InvalidPolicy'],
    ]);
  });

  it('counts only an Event that was written as the last one', async () => {
    const { api, recorder } = world();
    await recorder.record(regarding('files'), WARNING, LASTING);
    api.before = () => {
      throw new KubernetesApiError({ code: 500, reason: 'InternalError' }, 'no');
    };
    await recorder.record(regarding('files'), ACCEPTED, LASTING);
    api.before = () => undefined;
    await recorder.record(regarding('files'), ACCEPTED, LASTING);
    expect(reasonsOf(api)).toEqual(['InvalidPolicy', 'Accepted', 'Accepted']);
  });

  it('limits the number of Events in all', async () => {
    const { api, clock, recorder } = world();
    const burst = async (from: number) => {
      for (let index = from; index < from + 500; index += 1) {
        await recorder.record(regarding(`r${String(index)}`), WARNING, LASTING);
      }
    };
    await burst(0);
    expect(api.requests).toHaveLength(100);
    await clock.advance(10_000);
    await burst(1000);
    expect(api.requests).toHaveLength(110);
    await clock.advance(10_000);
    await recorder.record(regarding('r200'), WARNING, LASTING);
    expect(api.requests).toHaveLength(111);
  });

  it('writes Events about other objects while one flaps', async () => {
    const { api, clock, recorder, signal } = world();
    for (let second = 0; second < 900; second += 1) {
      await recorder.record(regarding('flapping'), WARNING, signal);
      await clock.advance(500);
      await recorder.record(regarding('flapping'), ACCEPTED, signal);
      await clock.advance(500);
      if (second % 45 !== 0) continue;
      await recorder.record(regarding(`r${String(second)}`), WARNING, signal);
    }
    const names = api.requests.map(({ object }) => nameIn(object));
    expect(names.filter((name) => name !== 'flapping')).toHaveLength(20);
    expect(names.filter((name) => name === 'flapping').length).toBeLessThanOrEqual(6 + 15);
  });

  it('writes an Event above the limit later, once', async () => {
    const { api, clock, recorder, signal } = world();
    await talk(recorder, 6, signal);
    for (const announcement of [WARNING, ACCEPTED, WARNING]) {
      await recorder.record(regarding('files'), announcement, signal);
    }
    expect(reasonsOf(api)).toHaveLength(6);
    await clock.advance(30 * MINUTE);
    expect(reasonsOf(api).slice(5)).toEqual(['Accepted', 'InvalidPolicy']);
  });

  it('does not write an Event later that equals the last one', async () => {
    const { api, clock, recorder, signal } = world();
    await talk(recorder, 6, signal);
    await recorder.record(regarding('files'), WARNING, signal);
    await recorder.record(regarding('files'), ACCEPTED, signal);
    await clock.advance(30 * MINUTE);
    expect(reasonsOf(api)).toHaveLength(6);
  });

  it('writes an Event later that waited for those of other objects', async () => {
    const { api, clock, recorder, signal } = world();
    await recorder.record(regarding('files'), WARNING, signal);
    for (let index = 0; index < 200; index += 1) {
      await recorder.record(regarding(`r${String(index)}`), WARNING, signal);
    }
    await recorder.record(regarding('files'), ACCEPTED, signal);
    expect(api.requests).toHaveLength(100);
    await clock.advance(MINUTE);
    expect(api.requests).toHaveLength(101);
    expect(api.requests.at(-1)?.object).toMatchObject({
      involvedObject: { name: 'files' },
      reason: 'Accepted',
    });
  });

  it('writes no delayed Event once the signal has aborted', async () => {
    const { api, clock, recorder, signal, end } = world();
    await talk(recorder, 7, signal);
    end();
    await talk(recorder, 1, signal);
    await clock.advance(30 * MINUTE);
    expect(reasonsOf(api)).toHaveLength(6);
  });

  it.each(['a', 'a'.repeat(253), `${'a.'.repeat(118)}bbb`, `${'a-'.repeat(118)}bbb`])(
    'makes a valid name of %s',
    async (name) => {
      const { api, recorder } = world();
      await recorder.record(regarding(name), WARNING, LASTING);
      const made = api.requests[0]?.name ?? '';
      expect(made).toMatch(DNS_SUBDOMAIN);
      expect(made.length).toBeLessThanOrEqual(253);
    },
  );

  it('drops an Event that cannot be written, and logs that', async () => {
    const { api, logger, recorder } = world();
    api.before = () => {
      throw new KubernetesApiError({ code: 403, reason: 'Forbidden' }, 'no');
    };
    await recorder.record(regarding('a'), WARNING, LASTING);
    await recorder.record(regarding('b'), WARNING, LASTING);
    expect(logger.records).toMatchObject([{ message: 'cannot write an Event' }]);
  });
});
