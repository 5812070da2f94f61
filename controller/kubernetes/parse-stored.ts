import type { KubernetesObject, ObjectMeta } from './objects.ts';
import { parseRouteStatus, parseSettingsStatus } from './parse-status.ts';
import type { StoredRoute, StoredSettings } from './stored-resources.ts';

/** Parses an object of type Route. */
export function parseStoredRoute(object: KubernetesObject): StoredRoute {
  const status = parseRouteStatus(memberOf(object, 'status'));
  return {
    metadata: ownMetadata(object),
    spec: memberOf(object, 'spec'),
    ...(status && { status }),
  };
}

/** Parses an object of type GatewaySettings. */
export function parseStoredSettings(object: KubernetesObject): StoredSettings {
  const status = parseSettingsStatus(memberOf(object, 'status'));
  return {
    metadata: ownMetadata(object),
    spec: memberOf(object, 'spec'),
    ...(status && { status }),
  };
}

/** Leaves out what is large and unused: `managedFields`, and the copy that `kubectl apply` adds. */
function ownMetadata({ metadata }: KubernetesObject): ObjectMeta {
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

function memberOf(object: KubernetesObject, name: 'spec' | 'status'): unknown {
  return Object.getOwnPropertyDescriptor(object, name)?.value;
}
