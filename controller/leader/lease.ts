import type { KubernetesObject } from '../kubernetes/objects.ts';
import { microTime } from './micro-time.ts';

/** Annotation of a Lease: `host:port` that proxies dial while its holder leads. */
export const PUSH_ADDRESS_ANNOTATION = 'gatehouse.dev/push-address';
/** `leaseTransitions` is an int32. */
export const MAX_EPOCH = 2 ** 31 - 1;

const SECOND = 1000;

/** A coordination.k8s.io/v1 Lease. It is not trusted: other clients may write it. */
export interface Lease extends KubernetesObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly leaseTransitions?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
  };
}

/** A process that acquires a Lease. */
export interface LeaseCandidate {
  readonly identity: string;
  readonly pushAddress: string;
  readonly leaseDurationMs: number;
}

/** The holder of a Lease; empty when nobody holds it. */
export function holderOf(lease: Lease): string {
  return lease.spec?.holderIdentity ?? '';
}

/** The epoch of a Lease; 0 when nobody ever held it. */
export function epochOf(lease: Lease): number {
  return lease.spec?.leaseTransitions ?? 0;
}

/** How long a Lease lasts without being renewed; undefined when it does not specify that. */
export function durationMsOf(lease: Lease): number | undefined {
  const seconds = lease.spec?.leaseDurationSeconds;
  return seconds === undefined ? undefined : seconds * SECOND;
}

/** A Lease to be created. */
export function newLease(namespace: string, name: string): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace },
  };
}

/** The Lease, acquired with `epoch`. */
export function acquired(
  lease: Lease,
  candidate: LeaseCandidate,
  at: { epoch: number; now: Date },
): Lease {
  const annotations = {
    ...lease.metadata.annotations,
    [PUSH_ADDRESS_ANNOTATION]: candidate.pushAddress,
  };
  return {
    ...lease,
    metadata: { ...lease.metadata, annotations },
    spec: {
      ...lease.spec,
      holderIdentity: candidate.identity,
      leaseDurationSeconds: Math.max(1, Math.round(candidate.leaseDurationMs / SECOND)),
      leaseTransitions: at.epoch,
      acquireTime: microTime(at.now),
      renewTime: microTime(at.now),
    },
  };
}

/** The Lease, renewed. */
export function renewed(lease: Lease, at: { epoch: number; now: Date }): Lease {
  const renewTime = microTime(at.now);
  return { ...lease, spec: { ...lease.spec, leaseTransitions: at.epoch, renewTime } };
}

/** The Lease, free for any candidate. */
export function released(lease: Lease, now: Date): Lease {
  const renewTime = microTime(now);
  return {
    ...lease,
    spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime },
  };
}
