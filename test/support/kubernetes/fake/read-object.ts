import type { ApiObject, ObjectMeta } from './api-object.ts';
import { decodeTyped, prune } from './decode.ts';
import { objectAt } from './field-reading.ts';
import { isObject, shown, without, type Json, type JsonObject } from './json.ts';
import { OBJECT_META } from './object-meta.ts';
import { apiVersionOf, type ResourceDefinition } from './resource-definition.ts';
import { invalidValue } from './cause.ts';
import { badRequest, invalid, StatusError } from './status-error.ts';

/** The place of an object. The name is empty if the path does not have it. */
export interface Target {
  readonly namespace: string;
  readonly name: string;
}

/** An object of a request, without unknown fields. */
export interface ReadObject {
  readonly object: ApiObject;
  readonly unknownFields: readonly string[];
}

/** Reads the body of a request: an object of a type, for a place. */
export function readObject(
  definition: ResourceDefinition,
  target: Target,
  body: Json | undefined,
): ReadObject {
  if (!isObject(body)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${definition.kind})`);
  }
  assertType(definition, body);
  const { custom, schema, kind } = definition;
  const { meta, rest } = explained(definition, () => ({
    meta: decodeTyped(OBJECT_META, objectAt(body, 'metadata')),
    rest: (custom ? prune : decodeTyped)(schema, without(body, 'apiVersion', 'kind', 'metadata')),
  }));
  // Every member was checked against the schema of `metadata`.
  const metadata = placed(definition, meta.value, target);
  return {
    object: { apiVersion: apiVersionOf(definition), kind, metadata, ...rest.value },
    unknownFields: [...meta.unknownFields.map((path) => `metadata.${path}`), ...rest.unknownFields],
  };
}

/** Adds the type to the error about an object that cannot be read. */
function explained<Value>({ kind, version }: ResourceDefinition, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const what = `${kind} in version "${version}" cannot be handled as a ${kind}`;
    throw badRequest(`${what}: ${error.message}`);
  }
}

function assertType(definition: ResourceDefinition, body: JsonObject): void {
  const expected = apiVersionOf(definition);
  const { apiVersion = '', kind = '' } = body;
  // Objects of types of the API server itself may leave out `kind`.
  if (kind === '' && definition.custom) throw badRequest("Object 'Kind' is missing");
  if (apiVersion !== '' && apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${JSON.stringify(apiVersion)}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== '' && kind !== definition.kind) {
    const cause = invalidValue('kind', kind, `must be ${definition.kind}`);
    throw invalid({ group: definition.group, kind: shown(kind) }, '', [cause]);
  }
}

function placed(
  { namespaced }: ResourceDefinition,
  metadata: Partial<ObjectMeta>,
  target: Target,
): ObjectMeta {
  const { namespace = '', name = '' } = metadata;
  if (namespace !== '' && namespace !== target.namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  if (target.name !== '' && name !== '' && name !== target.name) {
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${target.name})`,
    );
  }
  return {
    ...metadata,
    name: name === '' ? target.name : name,
    ...(namespaced && { namespace: target.namespace }),
  };
}
