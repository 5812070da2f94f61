import type { ApiObject } from '../api-object.ts';
import { listAt, objectAt, textAt } from '../field-reading.ts';
import { isEqual, isObject, type Json } from '../json.ts';
import { invalidValue, requiredValue, type Cause } from '../cause.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** Validates a Role or ClusterRole. */
export function validateRole(object: ApiObject): readonly Cause[] {
  return listAt(object, 'rules').flatMap((rule, index) => {
    const field = `rules[${String(index)}]`;
    const isAboutPaths = listAt(rule, 'nonResourceURLs').length > 0;
    return [
      ...missing(rule, 'verbs', field, 'verbs must contain at least one value'),
      ...(isAboutPaths
        ? []
        : [
            ...missing(
              rule,
              'apiGroups',
              field,
              'resource rules must supply at least one api group',
            ),
            ...missing(
              rule,
              'resources',
              field,
              'resource rules must supply at least one resource',
            ),
          ]),
    ];
  });
}

function missing(rule: Json, name: string, field: string, why: string): readonly Cause[] {
  return listAt(rule, name).length === 0 ? [requiredValue(`${field}.${name}`, why)] : [];
}

/** Validates a RoleBinding or ClusterRoleBinding. */
export function completeBinding(object: ApiObject): ApiObject {
  const subjects = listAt(object, 'subjects').map((subject) =>
    isObject(subject) && subject['kind'] !== 'ServiceAccount'
      ? { apiGroup: RBAC_GROUP, ...subject }
      : subject,
  );
  return { ...object, roleRef: { apiGroup: RBAC_GROUP, ...objectAt(object, 'roleRef') }, subjects };
}

export function validateBinding(object: ApiObject, old: ApiObject | undefined): readonly Cause[] {
  const roleRef = objectAt(object, 'roleRef');
  const isChanged = old !== undefined && !isEqual(old['roleRef'], roleRef);
  return [
    ...roleRefCauses(object),
    ...(isChanged ? [invalidValue('roleRef', roleRef, 'cannot change roleRef')] : []),
    ...listAt(object, 'subjects').flatMap((subject, index) =>
      subjectCauses(subject, `subjects[${String(index)}]`),
    ),
  ];
}

function roleRefCauses({ kind, ...object }: ApiObject): readonly Cause[] {
  const roleRef = objectAt(object, 'roleRef');
  const kinds = kind === 'RoleBinding' ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return [
    ...(roleRef['apiGroup'] === RBAC_GROUP ? [] : [notSupported('roleRef.apiGroup', [RBAC_GROUP])]),
    ...(kinds.includes(textAt(roleRef, 'kind')) ? [] : [notSupported('roleRef.kind', kinds)]),
    ...(textAt(roleRef, 'name') === '' ? [requiredValue('roleRef.name')] : []),
  ];
}

const SUBJECT_KINDS: readonly string[] = ['ServiceAccount', 'User', 'Group'];

function subjectCauses(subject: Json, field: string): readonly Cause[] {
  const kind = textAt(subject, 'kind');
  if (!SUBJECT_KINDS.includes(kind)) return [notSupported(`${field}.kind`, SUBJECT_KINDS)];
  const needsNamespace = kind === 'ServiceAccount' && textAt(subject, 'namespace') === '';
  return [
    ...(textAt(subject, 'name') === '' ? [requiredValue(`${field}.name`)] : []),
    ...(needsNamespace ? [requiredValue(`${field}.namespace`)] : []),
  ];
}

function notSupported(field: string, supported: readonly string[]): Cause {
  const list = supported.map((one) => JSON.stringify(one)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: supported values: ${list}`,
    field,
  };
}
