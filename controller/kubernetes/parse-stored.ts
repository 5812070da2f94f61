import type { KubernetesObject, ObjectMeta } from './objects.ts';
import { parseRouteStatus, parseSettingsStatus } from './parse-status.ts';
import type { StoredRoute, StoredSettings } from './stored-resources.ts';

/** Parses an object of type Route. */
export function parseStoredRoute(object: KubernetesObject): StoredRoute {
  const { metadata, spec } = object;
  const status = parseRouteStatus(object['status']);
  return { metadata: ownMetadata(metadata), spec, ...(status && { status }) };
}

/** Parses an object of type GatewaySettings. */
export function parseStoredSettings(object: KubernetesObject): StoredSettings {
  const { metadata, spec } = object;
  const status = parseSettingsStatus(object['status']);
  return { metadata: ownMetadata(metadata), spec, ...(status && { status }) };
}

/** Leaves out large, unused members: `managedFields`, and the copy that `kubectl apply` adds. */
function ownMetadata(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation } = metadata;
  const { creationTimestamp, deletionTimestamp } = metadata;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(generation !== undefined && { generation }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
  };
}
