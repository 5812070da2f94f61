import { afterEach, describe, expect, it } from '@jest/globals';

import type { Lease } from '../../../../controller/leader/lease.ts';
import { LEASES } from '../../../../controller/kubernetes/resource-types.ts';
import {
  candidate,
  closeCandidates,
  leaseOf,
  PLACE,
  startLeader,
} from '../../../support/leader/candidates.ts';
import { settle } from '../../../support/manual-clock.ts';

const MINUTE = 60_000;

afterEach(closeCandidates);

describe('raiseEpochAbove', () => {
  it('writes the epoch to the Lease first, and keeps the leadership', async () => {
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

  it('raises the epochs of later leaders too', async () => {
    const first = await startLeader();
    const { server, clock } = first;
    await first.leaderships[0]?.raiseEpochAbove(41);
    await first.elector[Symbol.asyncDispose]();
    const { leaderships } = candidate(server, { identity: 'b_1', clock });
    await settle();
    expect(leaderships.map(({ epoch }) => epoch)).toEqual([43]);
  });

  it('retries until the Lease is written', async () => {
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

  it('does not lower an epoch that an unanswered write has left', async () => {
    const { server, clock, leaderships } = await startLeader();
    server.edit(LEASES, PLACE, (lease: Lease) => ({
      ...lease,
      spec: { ...lease.spec, leaseTransitions: 30 },
    }));
    await clock.advance(MINUTE);
    expect(leaderships[0]?.isCurrent).toBe(true);
    expect(leaseOf(server).spec?.leaseTransitions).toBe(30);
  });

  it('rejects when the leadership is over, and for an epoch that no Lease can hold', async () => {
    const { clock, leaderships } = await startLeader();
    await expect(leaderships[0]?.raiseEpochAbove(2 ** 40)).rejects.toThrow(RangeError);
    expect(leaderships[0]?.isCurrent).toBe(true);
    clock.sleep(MINUTE);
    await expect(leaderships[0]?.raiseEpochAbove(3)).rejects.toThrow('the leadership is over');
  });
});
