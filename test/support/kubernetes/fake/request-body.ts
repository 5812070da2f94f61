import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { parse } from 'yaml';

import type { Json } from './json.ts';
import { badRequest, StatusError, unsupportedMediaType } from './status-error.ts';

const MOST_BYTES = 3 * 1024 * 1024;
export const JSON_TYPE = 'application/json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';
export const JSON_PATCH = 'application/json-patch+json';

/** Returns the media type of a request, without parameters; JSON by default. */
export function mediaTypeOf(request: IncomingMessage): string {
  const [type = ''] = (request.headers['content-type'] ?? JSON_TYPE).split(';');
  return type.trim().toLowerCase();
}

/** Reads the body of a request in one of some media types; undefined if there is none. */
export async function readBody(
  request: IncomingMessage,
  accepted: readonly string[],
): Promise<Json | undefined> {
  const bytes = await buffer(request);
  if (bytes.length > MOST_BYTES) {
    throw new StatusError(
      413,
      'RequestEntityTooLarge',
      'Request entity too large: limit is 3145728',
    );
  }
  if (bytes.length === 0) return undefined;
  const type = mediaTypeOf(request);
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted);
  return parsed(bytes.toString(), type);
}

function parsed(text: string, type: string): Json {
  try {
    // Any JSON value.
    return JSON.parse(text) as Json;
  } catch {
    if (type !== APPLY_PATCH) throw badRequest('the body of the request is no JSON');
  }
  try {
    return parse(text) as Json;
  } catch {
    throw badRequest('the body of the request is no YAML');
  }
}
