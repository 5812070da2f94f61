import type { ApiObject } from '../api-object.ts';
import { objectAt } from '../field-reading.ts';
import { invalidValue, type Cause } from '../cause.ts';

export function validateLease(object: ApiObject): readonly Cause[] {
  const { leaseDurationSeconds = 1, leaseTransitions = 0 } = objectAt(object, 'spec');
  const duration = 'spec.leaseDurationSeconds';
  const transitions = 'spec.leaseTransitions';
  return [
    ...(Number(leaseDurationSeconds) > 0
      ? []
      : [invalidValue(duration, leaseDurationSeconds, 'must be greater than 0')]),
    ...(Number(leaseTransitions) >= 0
      ? []
      : [invalidValue(transitions, leaseTransitions, 'must be greater than or equal to 0')]),
  ];
}
