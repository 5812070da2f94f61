import { isRecord } from '../../shared/runtime/is-record.ts';
import type { KubernetesObject } from '../kubernetes/objects.ts';
import type { Lease } from './lease.ts';

/**
 * Parses an object of type Lease. A member that is not as in the definition is left out; those that
 * an election does not read stay, so that the Lease can be written back whole.
 */
export function parseLease({
  apiVersion,
  kind,
  metadata,
  spec,
  ...others
}: KubernetesObject): Lease {
  return {
    ...others,
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata,
    ...(isRecord(spec) && { spec: parseSpec(spec) }),
  };
}

function parseSpec(spec: Readonly<Record<string, unknown>>): NonNullable<Lease['spec']> {
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, ...others } = spec;
  const { acquireTime, renewTime, ...unread } = others;
  return {
    ...unread,
    ...(typeof holderIdentity === 'string' && { holderIdentity }),
    ...(typeof leaseDurationSeconds === 'number' && { leaseDurationSeconds }),
    ...(typeof leaseTransitions === 'number' && { leaseTransitions }),
    ...(typeof acquireTime === 'string' && { acquireTime }),
    ...(typeof renewTime === 'string' && { renewTime }),
  };
}
