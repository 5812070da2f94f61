import { Ajv, type ErrorObject } from 'ajv';

import { compileRuleCheck } from '../../../../controller/validate/check-rules.ts';
import type { SchemaProblem } from '../../../../controller/validate/check-schema.ts';
import { memberPath } from '../../../../controller/validate/field-path.ts';
import type { CrdSchema } from '../../../../crds/crd-schema.ts';
import { jsonSchemaOf } from '../../../../controller/validate/schemas/json-schema.ts';
import type { ApiObject } from './api-object.ts';
import { isList, isObject, without, type Json } from './json.ts';
import { memberSchema, type Schema } from './schema.ts';
import { causeOf } from './schema-causes.ts';
import { invalidValue, type Cause } from './cause.ts';
import { isRfc3339 } from './times.ts';

/** Makes the validation of custom resources: schema, list types, then rules, as the API server does. */
export function compileCustomValidation(
  schema: CrdSchema,
): (object: ApiObject) => readonly Cause[] {
  const validate = new Ajv({ allErrors: true, verbose: true }).compile(jsonSchemaOf(schema));
  const checkRules = compileRuleCheck(schema);
  return (object) => {
    const body = without(object, 'apiVersion', 'kind', 'metadata');
    const errors: readonly ErrorObject[] = validate(body) ? [] : (validate.errors ?? []);
    const causes = [...errors.map(causeOf), ...timeCauses(schema, body, '')];
    const faults = checkRules(body, { isWellFormed: causes.length === 0 });
    const repeated = faults.filter(isRepetition).map(repetitionCause);
    if (causes.some(isBlocking)) return [...causes, ...repeated, RULES_NOT_CHECKED];
    const broken = faults.filter((fault) => !isRepetition(fault));
    return [...causes, ...repeated, ...broken.map((fault) => ruleCause(fault, body))];
  };
}

const BLOCKING: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** Rules apply only to values of the right shape. */
function isBlocking({ reason }: Cause): boolean {
  return BLOCKING.has(reason);
}

const RULES_NOT_CHECKED: Cause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  field: '<nil>',
};

function isRepetition({ message }: SchemaProblem): boolean {
  return message.startsWith('has the same');
}

function repetitionCause({ path, message }: SchemaProblem): Cause {
  return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${message}`, field: path };
}

/** Objects and lists that break a rule are not shown. */
function ruleCause({ path, message }: SchemaProblem, body: Json): Cause {
  const value = valueAt(body, path);
  if (!isObject(value) && !isList(value)) return invalidValue(path, value, message);
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${message}`, field: path };
}

function valueAt(body: Json, path: string): Json | undefined {
  const steps = path.split(/[.[\]]/).filter((step) => step !== '');
  return steps.reduce<Json | undefined>((current, step) => {
    if (isList(current)) return current[Number(step)];
    return isObject(current) ? current[step] : undefined;
  }, body);
}

/** Checks times in `date-time` fields, which the schema alone does not check. */
function timeCauses(schema: Schema, value: Json | undefined, path: string): readonly Cause[] {
  if (schema.format === 'date-time' && typeof value === 'string' && !isRfc3339(value)) {
    const why = `${path} in body must be of type date-time: ${JSON.stringify(value)}`;
    return [{ ...invalidValue(path, value, why), reason: 'FieldValueTypeInvalid' }];
  }
  if (isList(value)) {
    const { items = {} } = schema;
    return value.flatMap((item, index) => timeCauses(items, item, memberPath(path, index)));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    timeCauses(memberSchema(schema, name) ?? {}, member, memberPath(path, name)),
  );
}
