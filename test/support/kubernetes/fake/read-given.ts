import type { ApiObject } from './api-object.ts';
import { isObject, shown, type Json } from './json.ts';
import { readObject } from './read-object.ts';
import { apiVersionOf, type ResourceDefinition } from './resource-definition.ts';
import { badRequest, StatusError } from './status-error.ts';
import type { WriteOptions } from './write-options.ts';

/** Reads an object that is to be written, and warnings about it. */
export function readGiven(
  definition: ResourceDefinition,
  body: Json | undefined,
  options: WriteOptions,
): { readonly object: ApiObject; readonly warnings: readonly string[] } {
  const { object, unknownFields } = readObject(definition, options, body);
  const warnings = unknownFields.map((path) => `unknown field "${path}"`);
  if (options.fieldValidation === 'Strict' && warnings.length > 0) {
    const { kind, version } = definition;
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${warnings.join(', ')}`,
    );
  }
  return { object, warnings: options.fieldValidation === 'Ignore' ? [] : warnings };
}

/** Reads the object that a manager of fields applies, whose type is always checked. */
export function readApplied(
  definition: ResourceDefinition,
  patch: Json | undefined,
  options: WriteOptions,
): ApiObject {
  if (!isObject(patch)) throw badRequest('an apply patch has to be an object');
  const expected = apiVersionOf(definition);
  if (patch['apiVersion'] !== expected || patch['kind'] !== definition.kind) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${shown(patch['apiVersion'] ?? '')}, expected: ${expected}`,
    );
  }
  const metadata = patch['metadata'];
  if (isObject(metadata) && metadata['managedFields'] != null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const { object, unknownFields } = readObject(definition, options, patch);
  if (unknownFields.length > 0) {
    throw new StatusError(
      500,
      '',
      `failed to create typed patch object: .${unknownFields.join(', .')}: field not declared in schema`,
    );
  }
  return object;
}
