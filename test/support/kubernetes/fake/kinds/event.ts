import type { ApiObject } from '../api-object.ts';
import { objectAt, textAt } from '../field-reading.ts';
import { invalidValue, requiredValue, type Cause } from '../cause.ts';

const DEFAULT_NAMESPACE = 'default';

/** Events are in the namespace of their object, and those with `eventTime` name their reporter. */
export function validateEvent(object: ApiObject): readonly Cause[] {
  const { namespace = '' } = object.metadata;
  const about = textAt(objectAt(object, 'involvedObject'), 'namespace');
  const isAtHome = (about === '' ? DEFAULT_NAMESPACE : about) === namespace;
  return [
    ...(isAtHome
      ? []
      : [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')]),
    ...(object['eventTime'] === undefined ? [] : missingReporters(object)),
  ];
}

function missingReporters(object: ApiObject): readonly Cause[] {
  return ['reportingComponent', 'reportingInstance', 'action', 'reason']
    .filter((field) => textAt(object, field) === '')
    .map((field) => requiredValue(field === 'reportingComponent' ? 'reportingController' : field));
}
