import { InvalidMessageError } from '../errors/request-errors.ts';
import type { RequestMessage } from '../http/request-message.ts';
import { UNSUPPORTED_MEDIA_TYPE } from './json-rpc-codes.ts';
import { parseMessage, type JsonRpcMessage } from './json-rpc.ts';
import { checkMirroredHeaders } from './mirrored-headers.ts';
import { rawHeaderValues } from './raw-header.ts';

/** RFC 8259, section 8.1: JSON is always UTF-8, but some clients add the charset. */
const JSON_TYPE = /^application\/json[\t ]*(?:;[\t ]*charset=(?:utf-8|"utf-8")[\t ]*)?$/i;

/**
 * Checks that the header of a POST to an MCP server route announces plain JSON: no other media type, and no
 * compression.
 *
 * Attack: an upstream that is less strict could run a tool call that policy never saw.
 */
export function checkBodyHeaders({ rawHeaders }: Pick<RequestMessage, 'rawHeaders'>): void {
  const types = rawHeaderValues(rawHeaders, 'content-type');
  if (types.length !== 1 || !isJsonType(types[0])) {
    throw unsupported('the Content-Type must be application/json');
  }
  const encodings = rawHeaderValues(rawHeaders, 'content-encoding');
  if (encodings.some((encoding) => encoding.toLowerCase() !== 'identity')) {
    throw unsupported('the body must not be encoded');
  }
}

function isJsonType(type = ''): boolean {
  // Nearly every client sends just this, which is compared faster than it is matched.
  return type === 'application/json' || JSON_TYPE.test(type);
}

/** RFC 9110, section 15.5.16. */
function unsupported(message: string): InvalidMessageError {
  return new InvalidMessageError(message, { status: 415, code: UNSUPPORTED_MEDIA_TYPE });
}

/**
 * Parses the body of a POST to an MCP server route, and checks it against the headers that mirror it.
 * The bytes that were parsed are the ones to forward.
 */
export function inspectRequest(
  { rawHeaders }: Pick<RequestMessage, 'rawHeaders'>,
  body: Buffer,
): JsonRpcMessage {
  const message = parseMessage(body);
  checkMirroredHeaders(rawHeaders, message);
  return message;
}
