import type { ApiObject } from './api-object.ts';
import { listAt, objectAt, textAt } from './field-reading.ts';
import type { Json } from './json.ts';
import type { RequestInfo } from './request-info.ts';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  ROLE_BINDINGS,
  ROLES,
} from './resource-definitions.ts';
import { forbidden, StatusError } from './status-error.ts';
import type { Store } from './store.ts';
import { usernameOf, type User } from './tokens.ts';

/** Members may do everything. */
export const MASTERS = 'system:masters';

/** Throws unless a role that is bound to the user allows the request. */
export function authorize(store: Store, user: User, request: RequestInfo): void {
  if (user.groups.includes(MASTERS)) return;
  const isAllowed = rulesFor(store, user, request.namespace).some((rule) => allows(rule, request));
  if (isAllowed) return;
  const { verb, group, resource, subresource, namespace, name } = request;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const why = `User "${user.username}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`;
  throw forbidden({ group, plural: resource }, name, why);
}

const OPEN_PATHS = /^\/(api|apis|healthz|livez|readyz|version|openapi)(\/|$)/;

/** Whether everybody may read a path that is not a resource. */
export function isOpenPath(method: string, path: string): boolean {
  return method === 'GET' && OPEN_PATHS.test(path);
}

/** Throws if a path that is not a resource may not be read by everybody. */
export function authorizePath(store: Store, user: User, method: string, path: string): void {
  if (user.groups.includes(MASTERS) || isOpenPath(method, path)) return;
  const verb = method.toLowerCase();
  const isAllowed = rulesFor(store, user, '').some(
    (rule) =>
      listAt(rule, 'nonResourceURLs').includes(path) && includes(listAt(rule, 'verbs'), verb),
  );
  if (isAllowed) return;
  const message = `forbidden: User "${user.username}" cannot ${verb} path "${path}"`;
  throw new StatusError(403, 'Forbidden', message, {});
}

/** The rules of all roles that are bound to a user, for the cluster and for a namespace. */
function rulesFor(store: Store, user: User, namespace: string): readonly Json[] {
  const everywhere = store
    .collection(CLUSTER_ROLE_BINDINGS)
    .all()
    .map(({ object }) => object);
  const here = store
    .collection(ROLE_BINDINGS)
    .all()
    .map(({ object }) => object)
    .filter(({ metadata }) => namespace !== '' && metadata.namespace === namespace);
  return [...everywhere, ...here]
    .filter((binding) =>
      listAt(binding, 'subjects').some((subject) => isSubject(subject, user, binding)),
    )
    .flatMap((binding) => listAt(roleOf(store, binding), 'rules'));
}

function isSubject(subject: Json, user: User, { metadata }: ApiObject): boolean {
  const name = textAt(subject, 'name');
  switch (textAt(subject, 'kind')) {
    case 'ServiceAccount': {
      const namespace = textAt(subject, 'namespace');
      const home = namespace === '' ? (metadata.namespace ?? '') : namespace;
      return user.username === usernameOf(home, name);
    }
    case 'Group':
      return user.groups.includes(name);
    default:
      return user.username === name;
  }
}

function roleOf(store: Store, binding: ApiObject): ApiObject | undefined {
  const reference = objectAt(binding, 'roleRef');
  const isLocal = textAt(reference, 'kind') === 'Role';
  const namespace = isLocal ? (binding.metadata.namespace ?? '') : '';
  const roles = store.collection(isLocal ? ROLES : CLUSTER_ROLES);
  return roles.get(namespace, textAt(reference, 'name'))?.object;
}

function allows(rule: Json, { verb, group, resource, subresource, name }: RequestInfo): boolean {
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const names = listAt(rule, 'resourceNames');
  return (
    includes(listAt(rule, 'verbs'), verb) &&
    includes(listAt(rule, 'apiGroups'), group) &&
    (includes(listAt(rule, 'resources'), what) ||
      (subresource !== '' && listAt(rule, 'resources').includes(`*/${subresource}`))) &&
    (names.length === 0 || names.includes(name))
  );
}

function includes(list: readonly Json[], wanted: string): boolean {
  return list.includes('*') || list.includes(wanted);
}
