import type { Cause } from './cause.ts';
import type { JsonObject } from './json.ts';
import type { ResourceDefinition } from './resource-definition.ts';

/** An error, which is sent as a `Status`. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly code: number;
  readonly reason: string;
  readonly details: JsonObject | undefined;

  constructor(code: number, reason: string, message: string, details?: JsonObject) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** The `Status` object. */
  toStatus(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason !== '' && { reason: this.reason }),
      ...(this.details !== undefined && { details: this.details }),
      code: this.code,
    };
  }
}

/** `routes.gatehouse.dev`, `secrets`: the name of a resource in messages. */
function qualifiedName({ plural, group }: ResourceDefinition): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function detailsOf({ plural, group }: ResourceDefinition, name: string): JsonObject {
  return { ...(name !== '' && { name }), ...(group !== '' && { group }), kind: plural };
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

export function notFound(definition: ResourceDefinition, name: string): StatusError {
  const message = `${qualifiedName(definition)} "${name}" not found`;
  return new StatusError(404, 'NotFound', message, detailsOf(definition, name));
}

export function alreadyExists(definition: ResourceDefinition, name: string): StatusError {
  const message = `${qualifiedName(definition)} "${name}" already exists`;
  return new StatusError(409, 'AlreadyExists', message, detailsOf(definition, name));
}

export const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

export function conflict(definition: ResourceDefinition, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedName(definition)} "${name}": ${why}`;
  return new StatusError(409, 'Conflict', message, detailsOf(definition, name));
}

export function forbidden(
  definition: Pick<ResourceDefinition, 'plural' | 'group'>,
  name: string,
  why: string,
): StatusError {
  const { group, plural } = definition;
  const resource = group === '' ? plural : `${plural}.${group}`;
  const what = name === '' ? resource : `${resource} "${name}"`;
  return new StatusError(403, 'Forbidden', `${what} is forbidden: ${why}`, {
    ...(name !== '' && { name }),
    ...(group !== '' && { group }),
    kind: plural,
  });
}

export function invalid(
  { group, kind }: Pick<ResourceDefinition, 'group' | 'kind'>,
  name: string,
  causes: readonly Cause[],
): StatusError {
  const qualified = group === '' ? kind : `${kind}.${group}`;
  const texts = causes.map(({ field, message }) => `${field}: ${message}`);
  const list = texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
  return new StatusError(422, 'Invalid', `${qualified} "${name}" is invalid: ${list}`, {
    ...(name !== '' && { name }),
    ...(group !== '' && { group }),
    kind,
    causes: causes.map(({ reason, message, field }) => ({ reason, message, field })),
  });
}

/** An error with code 410: a version or page that is gone. */
export function expired(message: string): StatusError {
  return new StatusError(410, 'Expired', message);
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return new StatusError(405, 'MethodNotAllowed', message, {});
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new StatusError(415, 'UnsupportedMediaType', message);
}
