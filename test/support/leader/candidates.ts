import { LeaseElector } from '../../../controller/leader/lease-elector.ts';
import type { Lease } from '../../../controller/leader/lease.ts';
import type { Leadership } from '../../../controller/leader/leadership.ts';
import { LEASES } from '../../../controller/kubernetes/resource-types.ts';
import { MemoryApi } from '../kubernetes/memory-api.ts';
import { ManualClock, settle } from '../manual-clock.ts';
import { recordingLogger } from '../recording-logger.ts';

/** Namespace of the Lease. */
export const NAMESPACE = 'gatehouse';
/** Name of the Lease. */
export const NAME = 'gatehouse-controller';
/** The Lease. */
export const PLACE = { namespace: NAMESPACE, name: NAME };
const MINUTE = 60_000;

const open: Candidate[] = [];

/** A candidate of an election, and its leaderships. */
export interface Candidate {
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

/** Makes a candidate join the election. It is disposed of after the test. */
export function candidate(server: MemoryApi, options: CandidateOptions): Candidate {
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

/** Starts an election with one candidate, which leads. */
export async function startLeader(
  options: Partial<CandidateOptions> = {},
): Promise<Candidate & { readonly server: MemoryApi }> {
  const server = new MemoryApi();
  const leader = candidate(server, { identity: 'a_1', clock: new ManualClock(), ...options });
  await settle();
  return { ...leader, server };
}

/** Disposes of all candidates. */
export async function closeCandidates(): Promise<void> {
  for (const { elector, clock } of open.splice(0)) {
    const closed = elector[Symbol.asyncDispose]();
    await clock.advance(MINUTE);
    await closed;
  }
}

/** The Lease on the server. */
export function leaseOf(server: MemoryApi): Lease {
  return server.read(LEASES, PLACE) ?? { metadata: { name: 'no lease' } };
}
