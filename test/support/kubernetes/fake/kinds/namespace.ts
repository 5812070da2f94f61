import type { ApiObject } from '../api-object.ts';
import { objectAt } from '../field-reading.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';

/** Adds the label with its name, for selectors. */
export function completeNamespace(object: ApiObject): ApiObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, labels: { ...metadata.labels, [NAME_LABEL]: metadata.name } },
    spec: { finalizers: ['kubernetes'], ...objectAt(object, 'spec') },
    status: { phase: 'Active', ...objectAt(object, 'status') },
  };
}
