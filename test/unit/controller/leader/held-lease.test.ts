import { afterEach, describe, expect, it } from '@jest/globals';

import { DEFAULT_TIMING } from '../../../../controller/leader/election-timing.ts';
import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { LEASES } from '../../../../controller/kubernetes/resource-types.ts';
import { MemoryApi, type MemoryRequest } from '../../../support/kubernetes/memory-api.ts';
import {
  candidate,
  closeCandidates,
  leaseOf,
  PLACE,
  startLeader,
} from '../../../support/leader/candidates.ts';
import { ManualClock, settle } from '../../../support/manual-clock.ts';

const MINUTE = 60_000;

afterEach(closeCandidates);

function isBy(identity: string, { verb, object }: MemoryRequest): boolean {
  return verb !== 'get' && JSON.stringify(object ?? {}).includes(identity);
}

describe('a leadership', () => {
  it('ends when the Lease cannot be renewed, before another begins', async () => {
    const first = await startLeader();
    const { server, clock } = first;
    const second = candidate(server, { identity: 'b_1', clock });
    await clock.advance(7000);
    // Requests of the first fail.
    const both = new Set<number>();
    server.before = (request) => {
      if (isBy('a_1', request)) throw new Error('connection refused');
    };
    for (let tick = 0; tick < 400; tick += 1) {
      await clock.advance(100);
      if (first.elector.isLeading && second.elector.isLeading) both.add(tick);
    }
    expect(both.size).toBe(0);
    expect(first.leaderships[0]?.signal.aborted).toBe(true);
    expect(second.leaderships.map(({ epoch }) => epoch)).toEqual([2]);
    const lost = first.logger.records.find(({ message }) => message === 'leadership lost');
    expect(lost?.fields).toMatchObject({ epoch: 1, reason: 'the Lease was not renewed in time' });
  });

  it('ends in time when the API server does not respond', async () => {
    const { server, clock, elector, leaderships } = await startLeader();
    await clock.advance(5000);
    server.before = () => new Promise(() => undefined);
    await clock.advance(DEFAULT_TIMING.renewDeadlineMs + 100);
    expect(leaderships[0]?.signal.aborted).toBe(true);

    server.before = () => undefined;
    await clock.advance(MINUTE);
    expect(elector.isLeading).toBe(true);
    expect(leaderships.map(({ epoch }) => epoch)).toEqual([1, 2]);
  });

  it('goes on when some renewals fail', async () => {
    const { server, clock, leaderships } = await startLeader();
    let count = 0;
    server.before = () => {
      count += 1;
      if (count % 4 !== 0)
        throw new KubernetesApiError({ code: 500, reason: 'InternalError' }, 'no');
    };
    await clock.advance(10 * MINUTE);
    expect(leaderships).toHaveLength(1);
    expect(leaderships[0]?.isCurrent).toBe(true);
  });

  it('is over for a process that was suspended, before any of its timers runs', async () => {
    const { clock, elector, leaderships } = await startLeader();
    clock.sleep(DEFAULT_TIMING.renewDeadlineMs);

    expect(leaderships[0]?.isCurrent).toBe(false);
    expect(leaderships[0]?.signal.aborted).toBe(true);
    expect(elector.isLeading).toBe(false);
  });

  it('does not resume when a renewal is answered too late', async () => {
    const { server, clock, leaderships } = await startLeader();
    const answer = Promise.withResolvers<undefined>();
    server.before = () => answer.promise;
    await clock.advance(2000);
    clock.sleep(MINUTE);
    answer.resolve(undefined);
    await settle();
    expect(leaderships[0]?.isCurrent).toBe(false);
  });

  it('lasts from when a renewal was sent, not from when it was answered', async () => {
    const { server, clock, leaderships } = await startLeader();
    const answer = Promise.withResolvers<undefined>();
    server.before = () => answer.promise;
    await clock.advance(5500);
    answer.resolve(undefined);
    server.before = () => {
      throw new Error('connection refused');
    };
    // The renewal was sent after 2 s, and the next ones fail.
    await clock.advance(6400);
    expect(leaderships[0]?.isCurrent).toBe(true);
    await clock.advance(200);
    expect(leaderships[0]?.isCurrent).toBe(false);
  });

  it('ends when another candidate has acquired the Lease', async () => {
    const { server, clock, leaderships, elector } = await startLeader();
    server.edit(LEASES, PLACE, (lease) => ({
      ...lease,
      spec: { holderIdentity: 'b_1', leaseDurationSeconds: 15, leaseTransitions: 2 },
    }));
    await clock.advance(2500);
    expect(elector.isLeading).toBe(false);
    expect(leaderships[0]?.signal.reason).toEqual(new Error('held by b_1'));
  });

  it('survives an edit of the Lease that keeps its holder', async () => {
    const { server, clock, leaderships } = await startLeader();
    server.edit(LEASES, PLACE, ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, labels: { team: 'platform' } },
    }));
    await clock.advance(MINUTE);
    expect(leaderships).toHaveLength(1);
    expect(leaderships[0]?.isCurrent).toBe(true);
    expect(leaseOf(server).metadata.labels).toEqual({ team: 'platform' });
  });

  it('is followed by one with a higher epoch when the Lease is deleted', async () => {
    const server = new MemoryApi();
    const clock = new ManualClock();
    const candidates = ['a_1', 'b_1'].map((identity) => candidate(server, { identity, clock }));
    await clock.advance(5000);
    server.remove(LEASES, PLACE);
    await clock.advance(5000);

    const epochs = candidates.flatMap(({ leaderships }) => leaderships.map(({ epoch }) => epoch));
    expect(epochs).toEqual([1, 2]);
    expect(leaseOf(server).spec?.leaseTransitions).toBe(2);
  });

  it('does not begin beside a leader whose Lease was deleted', async () => {
    // Its clock stands still.
    const first = await startLeader();
    const { server } = first;
    const clock = new ManualClock();
    const second = candidate(server, { identity: 'b_1', clock });
    await clock.advance(2000);
    server.remove(LEASES, PLACE);
    await clock.advance(9000);
    expect(second.leaderships).toHaveLength(0);
    await clock.advance(MINUTE);
    expect(second.leaderships.map(({ epoch }) => epoch)).toEqual([2]);
    expect(first.leaderships).toHaveLength(1);
  });

  it('is a different one after a container restarts in place', async () => {
    const gone = await startLeader({ identity: 'pod_1' });
    const clock = new ManualClock();
    const { leaderships } = candidate(gone.server, { identity: 'pod_2', clock });
    await clock.advance(MINUTE);
    expect(gone.leaderships.map(({ epoch }) => epoch)).toEqual([1]);
    expect(leaderships.map(({ epoch }) => epoch)).toEqual([2]);
  });

  it('begins only when the work of the one before has ended', async () => {
    const work = Promise.withResolvers<undefined>();
    const { server, clock, leaderships } = await startLeader({ onLeading: () => work.promise });
    server.remove(LEASES, PLACE);
    await clock.advance(MINUTE);
    expect(leaderships.map(({ signal }) => signal.aborted)).toEqual([true]);
    work.resolve(undefined);
    await clock.advance(MINUTE);
    expect(leaderships.map(({ epoch }) => epoch)).toEqual([1, 2]);
  });

  it('passes to another controller when its work fails', async () => {
    const first = await startLeader({ onLeading: () => Promise.reject(new Error('port taken')) });
    const { server, clock } = first;
    const second = candidate(server, { identity: 'b_1', clock });
    await clock.advance(5000);
    expect(second.elector.isLeading).toBe(true);
    expect(first.elector.isLeading).toBe(false);
    expect(first.logger.records).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'leadership failed' }),
    );
  });
});
