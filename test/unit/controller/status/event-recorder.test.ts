import { describe, expect, it } from '@jest/globals';

import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import { EventRecorder, type Regarding } from '../../../../controller/status/event-recorder.ts';
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
  return { api, clock, logger, recorder };
}

function regarding(name: string): Regarding {
  return { type: ROUTES, namespace: 'team-a', name, uid: `uid-${name}` };
}

function reasonsOf({ requests }: MemoryApi): readonly unknown[] {
  return requests.map(({ object }) => (object as { readonly reason?: unknown }).reason);
}

describe('an event recorder', () => {
  it('writes an Event beside the object', async () => {
    const { api, recorder } = world();
    await recorder.record(regarding('files'), WARNING);
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

  it('repeats what it said of an object last once in ten minutes', async () => {
    const { api, clock, recorder } = world();
    await recorder.record(regarding('files'), WARNING);
    await recorder.record(regarding('files'), { ...WARNING, message: 'another' });
    await recorder.record(regarding('other'), WARNING);
    expect(api.requests).toHaveLength(2);
    await clock.advance(10 * MINUTE);
    await recorder.record(regarding('files'), WARNING);
    expect(api.requests).toHaveLength(3);
  });

  it('says last what is so, however often it is the opposite', async () => {
    const { api, clock, recorder } = world();
    for (let round = 0; round < 3; round += 1) {
      await recorder.record(regarding('files'), WARNING);
      await clock.advance(1000);
      await recorder.record(regarding('files'), ACCEPTED);
      await clock.advance(1000);
    }
    await recorder.record(regarding('files'), WARNING);
    expect(reasonsOf(api)).toEqual([
      ...['InvalidPolicy', 'Accepted', 'InvalidPolicy', 'Accepted'],
      ...['InvalidPolicy', 'Accepted', 'InvalidPolicy'],
    ]);
  });

  it('takes for said what is written, and nothing else', async () => {
    const { api, recorder } = world();
    await recorder.record(regarding('files'), WARNING);
    api.before = () => {
      throw new KubernetesApiError({ code: 500, reason: 'InternalError' }, 'no');
    };
    await recorder.record(regarding('files'), ACCEPTED);
    api.before = () => undefined;
    await recorder.record(regarding('files'), ACCEPTED);
    expect(reasonsOf(api)).toEqual(['InvalidPolicy', 'Accepted', 'Accepted']);
  });

  it('is not heard too often', async () => {
    const { api, clock, recorder } = world();
    const burst = async (from: number) => {
      for (let index = from; index < from + 500; index += 1) {
        await recorder.record(regarding(`r${String(index)}`), WARNING);
      }
    };
    await burst(0);
    expect(api.requests).toHaveLength(100);
    await clock.advance(10_000);
    await burst(1000);
    expect(api.requests).toHaveLength(110);
    await clock.advance(10_000);
    await recorder.record(regarding('r200'), WARNING);
    expect(api.requests).toHaveLength(111);
  });

  it.each(['a', 'a'.repeat(253), `${'a.'.repeat(118)}bbb`, `${'a-'.repeat(118)}bbb`])(
    'makes a valid name of %s',
    async (name) => {
      const { api, recorder } = world();
      await recorder.record(regarding(name), WARNING);
      const made = api.requests[0]?.name ?? '';
      expect(made).toMatch(DNS_SUBDOMAIN);
      expect(made.length).toBeLessThanOrEqual(253);
    },
  );

  it('goes on without an Event that cannot be written, and says so', async () => {
    const { api, logger, recorder } = world();
    api.before = () => {
      throw new KubernetesApiError({ code: 403, reason: 'Forbidden' }, 'no');
    };
    await recorder.record(regarding('a'), WARNING);
    await recorder.record(regarding('b'), WARNING);
    expect(logger.records).toMatchObject([{ message: 'event could not be written' }]);
  });
});
