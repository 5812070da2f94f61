import { Ajv, type ErrorObject } from 'ajv';

import { hashResource } from './hash-resource.ts';
import { resourceKey } from './resource-key.ts';
import { resourceSchema } from './resource-schema.ts';
import type { CompiledResource, SnapshotResource } from './snapshot.ts';

/** A resource of a snapshot as it comes from outside. */
export interface UnparsedResource {
  readonly key: string;
  readonly value: unknown;
  /** Absent where something else vouches for the content, such as the version of the snapshot. */
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

/** Its key and its content do not belong together: it was damaged, or made by somebody else. */
export class DamagedResourceError extends Error {
  override readonly name = 'DamagedResourceError';
}

const isResource = new Ajv({ discriminator: true }).compile<CompiledResource>(resourceSchema.json);

/**
 * Makes a resource of what came from outside.
 *
 * Throws an `InvalidResourceError` when this release does not know all of it or when its key is
 * another's, and a `DamagedResourceError` when the hash is another's.
 */
export function parseResource({ key, value, hash }: UnparsedResource): SnapshotResource {
  if (!isResource(value)) throw new InvalidResourceError(inWords(isResource.errors ?? []));
  const expected = resourceKey(value);
  if (key !== expected) throw new InvalidResourceError(`the key of this resource is ${expected}`);
  const resource = hashResource(key, value);
  if (hash !== undefined && resource.hash !== hash) {
    throw new DamagedResourceError('the hash does not fit the content');
  }
  return resource;
}

/** Names places, members and rules; of an enumeration what may be there, never what is. */
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
