import type { ApiObject } from '../api-object.ts';
import { listAt, objectAt, textAt } from '../field-reading.ts';
import { requiredValue, type Cause } from '../cause.ts';

/** A pod that no node runs. */
export function completePod(object: ApiObject): ApiObject {
  const spec = objectAt(object, 'spec');
  const named = textAt(spec, 'serviceAccountName');
  const serviceAccountName = named === '' ? 'default' : named;
  return {
    ...object,
    spec: {
      restartPolicy: 'Always',
      ...spec,
      serviceAccountName,
      serviceAccount: serviceAccountName,
    },
    status: { phase: 'Pending', ...objectAt(object, 'status') },
  };
}

export function validatePod(object: ApiObject): readonly Cause[] {
  const containers = listAt(objectAt(object, 'spec'), 'containers');
  if (containers.length === 0) return [requiredValue('spec.containers')];
  return containers.flatMap((container, index) =>
    ['name', 'image']
      .filter((field) => textAt(container, field) === '')
      .map((field) => requiredValue(`spec.containers[${String(index)}].${field}`)),
  );
}
