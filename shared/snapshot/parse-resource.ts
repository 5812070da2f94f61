import type { ErrorObject } from 'ajv';

import { checkResource } from './generated/check-resource.js';
import { hashResource } from './hash-resource.ts';
import { resourceKey } from './resource-key.ts';
import type { CompiledResource, SnapshotResource } from './snapshot.ts';

/** A resource of a snapshot before it is parsed. */
export interface UnparsedResource {
  readonly key: string;
  readonly value: unknown;
  /** Absent where the content is verified otherwise, as by the version of the snapshot. */
  readonly hash?: string;
}

/**
 * Thrown for a value that is not a resource of a snapshot. The message holds no values of it.
 *
 * @internal Exported for its test: the callers treat every error alike.
 */
export class InvalidResourceError extends Error {
  override readonly name = 'InvalidResourceError';
}

/** Thrown if hash and content of a resource do not match. */
export class DamagedResourceError extends Error {
  override readonly name = 'DamagedResourceError';
}

/**
 * Parses a resource.
 *
 * Throws an `InvalidResourceError` if this release does not know all of it or its key is wrong, and
 * a `DamagedResourceError` if its hash is wrong.
 */
export function parseResource({ key, value, hash }: UnparsedResource): SnapshotResource {
  if (!checkResource(value)) throw new InvalidResourceError(inWords(checkResource.errors ?? []));
  // The schema describes this type.
  const compiled = value as CompiledResource;
  const expected = resourceKey(compiled);
  if (key !== expected) throw new InvalidResourceError(`the key of this resource is ${expected}`);
  const resource = hashResource(key, compiled);
  if (hash !== undefined && resource.hash !== hash) {
    throw new DamagedResourceError('the hash does not match the content');
  }
  return resource;
}

/**
 * Names places, members and rules, and the allowed values of an enumeration, but no actual values.
 */
function inWords(errors: readonly ErrorObject[]): string {
  const [first] = errors;
  if (first === undefined) return 'is not a resource';
  const { instancePath, message = 'is not valid' } = first;
  // ajv documents the parameters of each keyword: this one is a string.
  const { additionalProperty: unknown } = first.params as { readonly additionalProperty?: string };
  const place = instancePath === '' ? '' : `${instancePath} `;
  return unknown === undefined
    ? place + message
    : `${place}has a member that this release does not know: ${unknown}`;
}
