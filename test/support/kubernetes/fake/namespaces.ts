import type { ObjectMeta } from './api-object.ts';
import { objectAt } from './field-reading.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { NAMESPACES } from './resource-definitions.ts';
import { forbidden, notFound } from './status-error.ts';
import type { Store } from './store.ts';

/** Throws if the namespace of a new object does not exist, or is being deleted. */
export function assertNamespaceTakes(
  store: Store,
  definition: ResourceDefinition,
  { namespace = '', name }: ObjectMeta,
): void {
  if (!definition.namespaced) return;
  const found = store.collection(NAMESPACES).get('', namespace);
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  if (objectAt(found.object, 'status')['phase'] === 'Terminating') {
    throw forbidden(
      definition,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
    );
  }
}
