import { afterEach, describe, expect, it } from '@jest/globals';

import { DEFAULT_TIMING } from '../../../../controller/leader/election-timing.ts';
import { LeaseElector } from '../../../../controller/leader/lease-elector.ts';
import type { Leadership } from '../../../../controller/leader/leadership.ts';
import { PUSH_ADDRESS_ANNOTATION, type Lease } from '../../../../controller/leader/lease.ts';
import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { LEASES } from '../../../../controller/kubernetes/resource-types.ts';
import { MemoryApi, type MemoryRequest } from '../../../support/kubernetes/memory-api.ts';
import { ManualClock, settle } from '../../../support/manual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

const NAMESPACE = 'gatehouse';
const NAME = 'gatehouse-controller';
const PLACE = { namespace: NAMESPACE, name: NAME };
const MINUTE = 60_000;

const open: Candidate[] = [];

interface Candidate {
  readonly elector: LeaseElector;
  readonly leaderships: Leadership[];
  readonly clock: ManualClock;
  readonly logger: ReturnType<typeof recordingLogger>;
}

interface CandidateOptions {
  readonly identity: string;
  readonly clock: ManualClock;
  readonly onLeading?: (leadership: Leadership) => void | Promise<void>;
  readonly wallTime?: () => Date;
}

function candidate(server: MemoryApi, options: CandidateOptions): Candidate {
  const leaderships: Leadership[] = [];
  const logger = recordingLogger();
  const elector = new LeaseElector({
    api: server,
    namespace: NAMESPACE,
    leaseName: NAME,
    pushAddress: `${options.identity}:8444`,
    logger,
    random: () => 0.5,
    wallTime: () => options.clock.wallTime(),
    ...options,
  });
  elector.join((leadership) => {
    leaderships.push(leadership);
    return options.onLeading?.(leadership);
  });
  const made = { elector, leaderships, clock: options.clock, logger };
  open.push(made);
  return made;
}

/** The one candidate, once it leads. */
async function startLeader(
  options: Partial<CandidateOptions> = {},
): Promise<Candidate & { readonly server: MemoryApi }> {
  const server = new MemoryApi();
  const leader = candidate(server, { identity: 'a_1', clock: new ManualClock(), ...options });
  await settle();
  return { ...leader, server };
}

afterEach(async () => {
  for (const { elector, clock } of open.splice(0)) {
    const closed = elector[Symbol.asyncDispose]();
    await clock.advance(MINUTE);
    await closed;
  }
});

function leaseOf(server: MemoryApi): Lease {
  return server.read(LEASES, PLACE) ?? { metadata: { name: 'no lease' } };
}

/** What was logged about contending for the Lease. */
function troubleOf({ records }: Candidate['logger']): readonly string[] {
  return records.map(({ message }) => message).filter((message) => message.includes('conten'));
}

function isBy(identity: string, { verb, object }: MemoryRequest): boolean {
  return verb !== 'get' && JSON.stringify(object ?? {}).includes(identity);
}

describe('an election', () => {
  it('makes the Lease and leads with epoch 1', async () => {
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

  it('has one leader, whose address the others know', async () => {
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

  it('logs who leads once, and again when that is another one', async () => {
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
    'logs once that it may read the Lease and not %s it, and that it may when it has',
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
    ['another one holds it', { holderIdentity: 'b_1', leaseDurationSeconds: 3600 }],
    ['another one is faster', {}],
  ])('logs that it contends for the Lease again also when %s', async (_title, spec) => {
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

  it('gives a Lease that two want at once to one of them', async () => {
    const server = new MemoryApi();
    const clock = new ManualClock();
    const candidates = ['a_1', 'b_1', 'c_1'].map((identity) =>
      candidate(server, { identity, clock }),
    );
    await clock.advance(MINUTE);

    expect(candidates.filter(({ elector }) => elector.isLeading)).toHaveLength(1);
    expect(candidates.flatMap(({ leaderships }) => leaderships)).toHaveLength(1);
  });

  it('lets another lead at once when the leader stops, after its work has ended', async () => {
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

  it('replaces a leader that is gone within 20 s, and not before its time is over', async () => {
    const first = await startLeader();
    const clock = new ManualClock();
    const second = candidate(first.server, { identity: 'b_1', clock });
    for (let second = 0; second < 60; second += 1) {
      await first.clock.advance(1000);
      await clock.advance(1000);
    }
    expect(second.leaderships).toHaveLength(0);

    // The first one's clock stands still from here on: its process does not run.
    await clock.advance(14_000);
    expect(second.elector.isLeading).toBe(false);
    await clock.advance(4500);
    expect(second.leaderships.map(({ epoch }) => epoch)).toEqual([2]);
    expect(first.leaderships).toHaveLength(1);
  });

  it('does not believe the clocks of others', async () => {
    const clock = new ManualClock();
    const late = () => new Date(clock.wallTime().getTime() - 10 * MINUTE);
    const { server } = await startLeader({ clock, wallTime: late });
    const second = candidate(server, { identity: 'b_1', clock });
    await clock.advance(MINUTE);

    expect(second.leaderships).toHaveLength(0);
  });

  it('waits as long as the holder says', async () => {
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

  it('is not kept waiting by what others write into the metadata of a Lease', async () => {
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

describe('a leadership', () => {
  it('ends when the Lease cannot be renewed, before another one begins', async () => {
    const first = await startLeader();
    const { server, clock } = first;
    const second = candidate(server, { identity: 'b_1', clock });
    await clock.advance(7000);
    // The API server hears the second one alone.
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

  it('ends in time when the API server answers nothing at all', async () => {
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

  it('is seen to be over by a process that was stopped, before any timer of it runs', async () => {
    const { clock, elector, leaderships } = await startLeader();
    clock.sleep(DEFAULT_TIMING.renewDeadlineMs);

    expect(leaderships[0]?.isCurrent).toBe(false);
    expect(leaderships[0]?.signal.aborted).toBe(true);
    expect(elector.isLeading).toBe(false);
  });

  it('is not brought back by a renewal that is answered too late', async () => {
    const { server, clock, leaderships } = await startLeader();
    const answer = Promise.withResolvers<undefined>();
    server.before = () => answer.promise;
    await clock.advance(2000);
    clock.sleep(MINUTE);
    answer.resolve(undefined);
    await settle();
    expect(leaderships[0]?.isCurrent).toBe(false);
  });

  it('counts from when a renewal was sent, not from when it was answered', async () => {
    const { server, clock, leaderships } = await startLeader();
    const answer = Promise.withResolvers<undefined>();
    server.before = () => answer.promise;
    await clock.advance(5500);
    answer.resolve(undefined);
    server.before = () => {
      throw new Error('connection refused');
    };
    // Sent after 2 s, and the next ones fail.
    await clock.advance(6400);
    expect(leaderships[0]?.isCurrent).toBe(true);
    await clock.advance(200);
    expect(leaderships[0]?.isCurrent).toBe(false);
  });

  it('ends when another one has taken the Lease', async () => {
    const { server, clock, leaderships, elector } = await startLeader();
    server.edit(LEASES, PLACE, (lease) => ({
      ...lease,
      spec: { holderIdentity: 'b_1', leaseDurationSeconds: 15, leaseTransitions: 2 },
    }));
    await clock.advance(2500);
    expect(elector.isLeading).toBe(false);
    expect(leaderships[0]?.signal.reason).toEqual(new Error('held by b_1'));
  });

  it('survives somebody who edits the Lease but not its holder', async () => {
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

  it('begins anew with a higher epoch when the Lease is deleted', async () => {
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

  it('is not begun by others beside a leader whose Lease was deleted', async () => {
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

  it('is another one when a container is restarted in place', async () => {
    const gone = await startLeader({ identity: 'pod_1' });
    const clock = new ManualClock();
    const { leaderships } = candidate(gone.server, { identity: 'pod_2', clock });
    await clock.advance(MINUTE);
    expect(gone.leaderships.map(({ epoch }) => epoch)).toEqual([1]);
    expect(leaderships.map(({ epoch }) => epoch)).toEqual([2]);
  });

  it('follows the one before only when its work has ended', async () => {
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

describe('raising the epoch', () => {
  it('writes it to the Lease first, and keeps the leadership', async () => {
    const { server, clock, leaderships } = await startLeader();
    const [leadership] = leaderships;

    await expect(leadership?.raiseEpochAbove(41)).resolves.toBe(42);
    expect(leaseOf(server).spec?.leaseTransitions).toBe(42);
    expect(leadership?.epoch).toBe(42);
    await clock.advance(MINUTE);
    expect(leadership?.isCurrent).toBe(true);
    expect(leaseOf(server).spec?.leaseTransitions).toBe(42);
    await expect(leadership?.raiseEpochAbove(7)).resolves.toBe(42);
  });

  it('holds for the next leader too', async () => {
    const first = await startLeader();
    const { server, clock } = first;
    await first.leaderships[0]?.raiseEpochAbove(41);
    await first.elector[Symbol.asyncDispose]();
    const { leaderships } = candidate(server, { identity: 'b_1', clock });
    await settle();
    expect(leaderships.map(({ epoch }) => epoch)).toEqual([43]);
  });

  it('tries again until it is written', async () => {
    const { server, clock, leaderships } = await startLeader();
    let failures = 2;
    server.before = () => {
      failures -= 1;
      if (failures >= 0) throw new Error('connection refused');
    };
    const raised = leaderships[0]?.raiseEpochAbove(9);
    await clock.advance(8000);
    await expect(raised).resolves.toBe(10);
  });

  it('does not lower an epoch that a write has left that nobody heard of', async () => {
    const { server, clock, leaderships } = await startLeader();
    server.edit(LEASES, PLACE, (lease: Lease) => ({
      ...lease,
      spec: { ...lease.spec, leaseTransitions: 30 },
    }));
    await clock.advance(MINUTE);
    expect(leaderships[0]?.isCurrent).toBe(true);
    expect(leaseOf(server).spec?.leaseTransitions).toBe(30);
  });

  it('fails when the leadership is over, and for an epoch that no Lease holds', async () => {
    const { clock, leaderships } = await startLeader();
    await expect(leaderships[0]?.raiseEpochAbove(2 ** 40)).rejects.toThrow(RangeError);
    expect(leaderships[0]?.isCurrent).toBe(true);
    clock.sleep(MINUTE);
    await expect(leaderships[0]?.raiseEpochAbove(3)).rejects.toThrow('the leadership is over');
  });
});
