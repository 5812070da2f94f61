import { afterEach, describe, expect, it } from '@jest/globals';

import { DEFAULT_TIMING } from '../../../../controller/leader/election-timing.ts';
import { PUSH_ADDRESS_ANNOTATION, type Lease } from '../../../../controller/leader/lease.ts';
import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { LEASES } from '../../../../controller/kubernetes/resource-types.ts';
import { MemoryApi } from '../../../support/kubernetes/memory-api.ts';
import {
  candidate,
  closeCandidates,
  leaseOf,
  NAME,
  NAMESPACE,
  PLACE,
  startLeader,
  type Candidate,
} from '../../../support/leader/candidates.ts';
import { ManualClock, settle } from '../../../support/manual-clock.ts';

const MINUTE = 60_000;

afterEach(closeCandidates);

/** What was logged about contending for the Lease. */
function troubleOf({ records }: Candidate['logger']): readonly string[] {
  return records.map(({ message }) => message).filter((message) => message.includes('conten'));
}

describe('LeaseElector', () => {
  it('creates the Lease and leads with epoch 1', async () => {
    const { server, elector, leaderships } = await startLeader();

    expect(elector.isLeading).toBe(true);
    expect(leaderships.map(({ epoch }) => epoch)).toEqual([1]);
    const { metadata, spec } = leaseOf(server);
    expect(metadata.annotations).toEqual({ [PUSH_ADDRESS_ANNOTATION]: 'a_1:8444' });
    expect(spec).toMatchObject({
      holderIdentity: 'a_1',
      leaseDurationSeconds: 15,
      leaseTransitions: 1,
    });
  });

  it('elects one leader, whose address the other candidates know', async () => {
    const first = await startLeader();
    const { server, clock } = first;
    const second = candidate(server, { identity: 'b_1', clock });
    await clock.advance(10 * MINUTE);

    expect([first.elector.isLeading, second.elector.isLeading]).toEqual([true, false]);
    expect(first.leaderships).toHaveLength(1);
    expect(first.elector.leaderAddress).toBe('a_1:8444');
    expect(second.elector.leaderAddress).toBe('a_1:8444');
    expect(leaseOf(server).spec?.leaseTransitions).toBe(1);
  });

  it('logs the leader once, and again when it changes', async () => {
    const { server, clock } = await startLeader();
    const waiting = candidate(server, { identity: 'b_1', clock });
    await clock.advance(10 * MINUTE);
    const told = () =>
      waiting.logger.records
        .filter(({ message }) => message === 'another controller leads')
        .map(({ fields }) => fields);
    const leadBy = (holder: string) => ({ lease: NAME, holder, address: `${holder}:8444` });
    expect(told()).toEqual([leadBy('a_1')]);

    server.edit(LEASES, PLACE, (lease: Lease) => ({
      ...lease,
      metadata: { ...lease.metadata, annotations: { [PUSH_ADDRESS_ANNOTATION]: 'c_1:8444' } },
      spec: { ...lease.spec, holderIdentity: 'c_1' },
    }));
    await clock.advance(DEFAULT_TIMING.retryPeriodMs * 2);
    expect(told()).toEqual([leadBy('a_1'), leadBy('c_1')]);
  });

  it.each(['create', 'replace'] as const)(
    'logs once that it may not %s the Lease, and once that it contends again',
    async (verb) => {
      const server = new MemoryApi();
      const clock = new ManualClock();
      if (verb === 'replace') await server.create(LEASES, NAMESPACE, { metadata: { name: NAME } });
      server.before = (request) => {
        if (request.verb === verb)
          throw new KubernetesApiError({ code: 403, reason: 'Forbidden' }, `cannot ${verb} leases`);
      };
      const { elector, logger } = candidate(server, { identity: 'a_1', clock });
      await clock.advance(MINUTE);
      expect(server.requests.filter((request) => request.verb === verb).length).toBeGreaterThan(9);
      expect(troubleOf(logger)).toEqual(['cannot contend for the Lease']);

      server.before = () => undefined;
      await clock.advance(MINUTE);
      expect(elector.isLeading).toBe(true);
      expect(troubleOf(logger)).toEqual([
        'cannot contend for the Lease',
        'contending for the Lease again',
      ]);
    },
  );

  it.each([
    ['another candidate holds the Lease', { holderIdentity: 'b_1', leaseDurationSeconds: 3600 }],
    ['another candidate is faster', {}],
  ])('logs that it contends for the Lease again when %s', async (_title, spec) => {
    const server = new MemoryApi();
    const clock = new ManualClock();
    await server.create(LEASES, NAMESPACE, { metadata: { name: NAME }, spec });
    server.before = () => {
      throw new Error('connection refused');
    };
    const { elector, logger } = candidate(server, { identity: 'a_1', clock });
    await clock.advance(MINUTE);
    expect(troubleOf(logger)).toEqual(['cannot contend for the Lease']);

    server.before = ({ verb }) => {
      if (verb === 'replace') throw new KubernetesApiError({ code: 409, reason: 'Conflict' }, 'no');
    };
    await clock.advance(MINUTE);
    expect(elector.isLeading).toBe(false);
    expect(troubleOf(logger)).toEqual([
      'cannot contend for the Lease',
      'contending for the Lease again',
    ]);
  });

  it('gives the Lease to one of several candidates that want it at once', async () => {
    const server = new MemoryApi();
    const clock = new ManualClock();
    const candidates = ['a_1', 'b_1', 'c_1'].map((identity) =>
      candidate(server, { identity, clock }),
    );
    await clock.advance(MINUTE);

    expect(candidates.filter(({ elector }) => elector.isLeading)).toHaveLength(1);
    expect(candidates.flatMap(({ leaderships }) => leaderships)).toHaveLength(1);
  });

  it('releases the Lease when the leader stops and its work has ended', async () => {
    const work = Promise.withResolvers<undefined>();
    const first = await startLeader({ onLeading: () => work.promise });
    const { server, clock } = first;
    const second = candidate(server, { identity: 'b_1', clock });
    await settle();

    const closed = first.elector[Symbol.asyncDispose]();
    await clock.advance(3000);
    expect(first.leaderships[0]?.signal.aborted).toBe(true);
    expect(second.elector.isLeading).toBe(false);
    work.resolve(undefined);
    await closed;
    expect(leaseOf(server).spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    await clock.advance(3000);
    expect(second.leaderships.map(({ epoch }) => epoch)).toEqual([2]);
  });

  it('replaces a leader that is gone within 20 s, and not before its term ends', async () => {
    const first = await startLeader();
    const clock = new ManualClock();
    const second = candidate(first.server, { identity: 'b_1', clock });
    for (let second = 0; second < 60; second += 1) {
      await first.clock.advance(1000);
      await clock.advance(1000);
    }
    expect(second.leaderships).toHaveLength(0);

    // From here on the clock of the first stands still, as if its process did not run.
    await clock.advance(14_000);
    expect(second.elector.isLeading).toBe(false);
    await clock.advance(4500);
    expect(second.leaderships.map(({ epoch }) => epoch)).toEqual([2]);
    expect(first.leaderships).toHaveLength(1);
  });

  it('ignores the times in the Lease', async () => {
    const clock = new ManualClock();
    const late = () => new Date(clock.wallTime().getTime() - 10 * MINUTE);
    const { server } = await startLeader({ clock, wallTime: late });
    const second = candidate(server, { identity: 'b_1', clock });
    await clock.advance(MINUTE);

    expect(second.leaderships).toHaveLength(0);
  });

  it('waits for as long as the holder announces', async () => {
    const server = new MemoryApi();
    const clock = new ManualClock();
    await server.create(LEASES, NAMESPACE, {
      metadata: { name: NAME },
      spec: { holderIdentity: 'other', leaseDurationSeconds: 40, leaseTransitions: 7 },
    });
    const { elector, leaderships } = candidate(server, { identity: 'a_1', clock });
    await clock.advance(39_000);
    expect(elector.isLeading).toBe(false);
    await clock.advance(2000);
    expect(leaderships.map(({ epoch }) => epoch)).toEqual([8]);
  });

  it('is not delayed by changes to the metadata of the Lease', async () => {
    const server = new MemoryApi();
    const clock = new ManualClock();
    await server.create(LEASES, NAMESPACE, {
      metadata: { name: NAME },
      spec: { holderIdentity: 'dead', leaseDurationSeconds: 15 },
    });
    const { elector } = candidate(server, { identity: 'a_1', clock });
    for (let second = 0; second < 18; second += 1) {
      await clock.advance(1000);
      if (elector.isLeading) break;
      server.edit(LEASES, PLACE, ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...metadata, labels: { at: String(second) } },
      }));
    }
    expect(elector.isLeading).toBe(true);
  });
});
