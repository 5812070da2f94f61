import { InvalidMessageError } from '../errors/request-errors.ts';
import { decodeHeaderText } from './header-text.ts';
import { HEADER_MISMATCH } from './json-rpc-codes.ts';
import type { JsonRpcMessage } from './json-rpc.ts';
import { MIRRORED_NAMES } from './mirrored-name.ts';
import { rawHeaderValues } from './raw-header.ts';

/** The first revision without sessions, in which headers mirror the body of a request. */
const STATELESS_SINCE = '2026-07-28';
const REVISION = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Checks that `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` agree with the body (MCP 2026-07-28,
 * Server Validation): others route or log by them, and policy decided on the body.
 *
 * Headers that are present must agree in any revision; since 2026-07-28 they must be present. A version
 * that is not a date is not a known revision, and requires nothing.
 */
export function checkMirroredHeaders(rawHeaders: readonly string[], message: JsonRpcMessage): void {
  const version = readOnce(rawHeaders, 'mcp-protocol-version', message);
  const isMirroring = version !== undefined && isStateless(version);
  checkVersion(version, message);
  checkMethod(readOnce(rawHeaders, 'mcp-method', message), isMirroring, message);
  checkName(readOnce(rawHeaders, 'mcp-name', message), isMirroring, message);
}

function mismatch(text: string, { id = null }: { id?: JsonRpcMessage['id'] | null }): Error {
  return new InvalidMessageError(text, { code: HEADER_MISMATCH, id });
}

/** The names of the headers in lower case, and in messages. */
const SPELLINGS = {
  'mcp-protocol-version': 'MCP-Protocol-Version',
  'mcp-method': 'Mcp-Method',
  'mcp-name': 'Mcp-Name',
} as const;

/** Returns the value of a header. Refuses a repeated one, because an upstream may read the other value. */
function readOnce(
  rawHeaders: readonly string[],
  name: keyof typeof SPELLINGS,
  message: JsonRpcMessage,
): string | undefined {
  const values = rawHeaderValues(rawHeaders, name);
  if (values.length > 1) throw mismatch(`the ${SPELLINGS[name]} header is repeated`, message);
  return values[0];
}

/**
 * Returns whether a revision has no sessions and no streams to open: there is one POST for each request,
 * and headers that mirror its body (MCP since 2026-07-28).
 */
export function isStateless(version: string): boolean {
  return version >= STATELESS_SINCE && REVISION.test(version);
}

/** The version in the body has a meaning only if either version is a mirroring revision. */
function checkVersion(header: string | undefined, message: JsonRpcMessage): void {
  const inBody = message.protocolVersion;
  if (inBody === undefined || inBody === header) return;
  if (!isStateless(inBody) && (header === undefined || !isStateless(header))) return;
  throw mismatch('the MCP-Protocol-Version header is not the version in the body', message);
}

function checkMethod(
  header: string | undefined,
  isMirroring: boolean,
  message: JsonRpcMessage,
): void {
  if (header === undefined) {
    if (!isMirroring || message.method === undefined) return;
    throw mismatch('the Mcp-Method header is missing', message);
  }
  if (header === message.method) return;
  throw mismatch('the Mcp-Method header is not the method in the body', message);
}

function checkName(
  header: string | undefined,
  isMirroring: boolean,
  message: JsonRpcMessage,
): void {
  const mirrored = MIRRORED_NAMES.get(message.method ?? '');
  if (mirrored === undefined) return;
  if (header === undefined) {
    if (!isMirroring || !mirrored.isRequired || message.mirroredName === undefined) return;
    throw mismatch('the Mcp-Name header is missing', message);
  }
  const text = decodeHeaderText(header);
  if (text !== undefined && text === message.mirroredName) return;
  throw mismatch('the Mcp-Name header is not the name in the body', message);
}
