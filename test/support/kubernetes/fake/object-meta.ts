import type { ApiObject, ObjectMeta } from './api-object.ts';
import { builtinSchema } from './builtin-schema.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import type { Schema } from './schema.ts';
import { invalidValue, requiredValue, type Cause } from './cause.ts';

const { properties: META_PROPERTIES = {} } = builtinSchema('V1ObjectMeta');

/** The schema of `metadata`. */
export const OBJECT_META: Schema = {
  type: 'object',
  properties: {
    ...META_PROPERTIES,
    finalizers: {
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-list-type': 'set',
    },
  },
};

interface NameRule {
  readonly pattern: RegExp;
  readonly maxLength: number;
  readonly words: string;
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

const NAME_RULES: Readonly<Record<ResourceDefinition['name'], NameRule>> = {
  subdomain: {
    pattern: new RegExp(`^${LABEL}(\\.${LABEL})*$`),
    maxLength: 253,
    words:
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  },
  label: {
    pattern: new RegExp(`^${LABEL}$`),
    maxLength: 63,
    words:
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  },
  service: {
    pattern: /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
    maxLength: 63,
    words:
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  },
  'path segment': {
    pattern: /^(?!\.{1,2}$)[^/%]+$/,
    maxLength: 253,
    words: "must not be '.' or '..' and must not contain '/' or '%'",
  },
};

/** Returns the problems of `metadata`. */
export function validateMeta(
  definition: ResourceDefinition,
  { metadata }: ApiObject,
  old: ApiObject | undefined,
): readonly Cause[] {
  return [
    ...nameCauses(NAME_RULES[definition.name], metadata),
    ...labelCauses(metadata),
    ...annotationCauses(metadata),
    ...finalizerCauses(metadata, old?.metadata),
  ];
}

function nameCauses(rule: NameRule, { name }: ObjectMeta): readonly Cause[] {
  const field = 'metadata.name';
  if (name === '') return [requiredValue(field, 'name or generateName is required')];
  if (name.length > rule.maxLength) {
    return [invalidValue(field, name, `must be no more than ${String(rule.maxLength)} characters`)];
  }
  return rule.pattern.test(name) ? [] : [invalidValue(field, name, rule.words)];
}

const QUALIFIED_NAME =
  /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

function labelCauses({ labels = {} }: ObjectMeta): readonly Cause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...keyCauses('metadata.labels', key),
    ...(LABEL_VALUE.test(value)
      ? []
      : [
          invalidValue(
            'metadata.labels',
            value,
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
          ),
        ]),
  ]);
}

function annotationCauses({ annotations = {} }: ObjectMeta): readonly Cause[] {
  return Object.keys(annotations).flatMap((key) =>
    keyCauses('metadata.annotations', key.toLowerCase()),
  );
}

function keyCauses(field: string, key: string): readonly Cause[] {
  if (QUALIFIED_NAME.test(key)) return [];
  return [
    invalidValue(
      field,
      key,
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    ),
  ];
}

function finalizerCauses(
  { finalizers = [] }: ObjectMeta,
  old: ObjectMeta | undefined,
): readonly Cause[] {
  if (old?.deletionTimestamp === undefined) return [];
  const added = finalizers.filter((finalizer) => !(old.finalizers ?? []).includes(finalizer));
  if (added.length === 0) return [];
  return [
    {
      reason: 'FieldValueForbidden',
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
      field: 'metadata.finalizers',
    },
  ];
}
