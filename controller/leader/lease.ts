import type { KubernetesObject } from '../kubernetes/objects.ts';
import { microTime } from './micro-time.ts';

export const PUSH_ADDRESS_ANNOTATION = 'gatehouse.dev/push-address';
/** `leaseTransitions` is an int32. */
export const MAX_EPOCH = 2 ** 31 - 1;

const SECOND = 1000;

/** coordination.k8s.io/v1 Lease. Anybody may have written it. */
export interface Lease extends KubernetesObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly leaseTransitions?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
  };
}

/** Who takes a Lease. */
export interface Claim {
  readonly identity: string;
  readonly pushAddress: string;
  readonly leaseDurationMs: number;
}

/** Empty when nobody holds it. */
export function holderOf(lease: Lease): string {
  return lease.spec?.holderIdentity ?? '';
}

/** 0 when nobody ever held it. */
export function epochOf(lease: Lease): number {
  return lease.spec?.leaseTransitions ?? 0;
}

/** How long it holds without being renewed; undefined when it does not say. */
export function durationMsOf(lease: Lease): number | undefined {
  const seconds = lease.spec?.leaseDurationSeconds;
  return seconds === undefined ? undefined : seconds * SECOND;
}

/** A Lease that nobody has made yet. */
export function newLease(namespace: string, name: string): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace },
  };
}

/** The Lease, taken at `epoch`. */
export function acquired(lease: Lease, claim: Claim, at: { epoch: number; now: Date }): Lease {
  const annotations = {
    ...lease.metadata.annotations,
    [PUSH_ADDRESS_ANNOTATION]: claim.pushAddress,
  };
  return {
    ...lease,
    metadata: { ...lease.metadata, annotations },
    spec: {
      ...lease.spec,
      holderIdentity: claim.identity,
      leaseDurationSeconds: Math.max(1, Math.round(claim.leaseDurationMs / SECOND)),
      leaseTransitions: at.epoch,
      acquireTime: microTime(at.now),
      renewTime: microTime(at.now),
    },
  };
}

/** The Lease, held on. */
export function renewed(lease: Lease, at: { epoch: number; now: Date }): Lease {
  const renewTime = microTime(at.now);
  return { ...lease, spec: { ...lease.spec, leaseTransitions: at.epoch, renewTime } };
}

/** The Lease, for anybody to take. */
export function released(lease: Lease, now: Date): Lease {
  const renewTime = microTime(now);
  return {
    ...lease,
    spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime },
  };
}
