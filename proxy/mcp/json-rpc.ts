import { isUtf8 } from 'node:buffer';

import { InvalidMessageError } from '../errors/request-errors.ts';
import { findCaseVariant, member, type JsonObject } from '../json/json-object.ts';
import { parseStrictJson, StrictJsonError } from '../json/strict-json.ts';
import { INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR } from './json-rpc-codes.ts';
import { MIRRORED_NAMES } from './mirrored-name.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';

/** The members of one JSON-RPC message that the gateway reads. */
export interface JsonRpcMessage {
  readonly kind: 'request' | 'notification' | 'response';
  /** The id of a request; undefined for a response, because its id is that of the server's request. */
  readonly id: MessageId | undefined;
  /** Undefined for a response. */
  readonly method: string | undefined;
  /** Empty for a response, and if they are absent or null. */
  readonly params: JsonObject;
  /** `params.name` of a `tools/call`, whether it has an id or not. */
  readonly toolName: string | undefined;
  /** `params.arguments` of a `tools/call`; empty when it has none, or null. */
  readonly toolArguments: JsonObject | undefined;
  /** The value that the `Mcp-Name` header mirrors for this method, if the message has it. */
  readonly mirroredName: string | undefined;
  /** The protocol version that `params._meta` names. */
  readonly protocolVersion: string | undefined;
}

/** The id of a JSON-RPC request. */
export type MessageId = string | number;

const CALL_KEYS = ['jsonrpc', 'id', 'method', 'params'];
const RESULT_KEYS = ['jsonrpc', 'id', 'result'];
const ERROR_KEYS = ['jsonrpc', 'id', 'error'];
const PARAMS_KEYS = ['name', 'uri', 'taskId', 'arguments', '_meta'];
/** The method that calls a tool, and the only one that has a tool (specification: Evaluation rules, 1). */
const TOOLS_CALL = 'tools/call';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/**
 * Parses the body of a POST to an MCP endpoint: one JSON-RPC 2.0 message, read strictly.
 *
 * Refuses what two parsers could read differently, so that policy decides on what the upstream runs:
 * duplicate keys at any depth, members that JSON-RPC does not have, keys that differ only in case from a
 * key that is read here, batches, encodings other than UTF-8, U+0000 in keys, and names, ids and methods
 * that are not Unicode or have U+0000.
 *
 * Null for params, their arguments or `_meta` counts as absent: the Go SDK writes an empty map so.
 */
export function parseMessage(body: Buffer): JsonRpcMessage {
  if (!isUtf8(body)) throw invalid('the body is not UTF-8', PARSE_ERROR);
  const value = parseText(body.toString('utf8'));
  // Only MCP 2025-03-26 has batches. They would hide one call behind another.
  if (Array.isArray(value)) throw invalid('batches are not accepted');
  if (!isRecord(value)) throw invalid('the message is not an object');
  try {
    return readMessage(value);
  } catch (error) {
    const id = member(value, 'id');
    const isRequest = Object.hasOwn(value, 'method') && isMessageId(id);
    if (!isRequest || !(error instanceof InvalidMessageError)) throw error;
    throw new InvalidMessageError(error.message, { code: error.code, id });
  }
}

function parseText(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw error.isJson
      ? invalid(`the message ${error.message}`)
      : invalid('the body is not JSON', PARSE_ERROR);
  }
}

function invalid(message: string, code = INVALID_REQUEST): InvalidMessageError {
  return new InvalidMessageError(message, { code });
}

function readMessage(envelope: JsonObject): JsonRpcMessage {
  if (member(envelope, 'jsonrpc') !== '2.0') throw invalid('"jsonrpc" is not "2.0"');
  const id = readId(envelope);
  const isResult = Object.hasOwn(envelope, 'result');
  const isError = Object.hasOwn(envelope, 'error');
  if (Object.hasOwn(envelope, 'method')) {
    if (isResult || isError) throw invalid('the message is a request and a response');
    refuseForeignMembers(envelope, CALL_KEYS);
    return readCall(envelope, id);
  }
  if (isResult === isError) throw invalid('the message is neither a request nor a response');
  refuseForeignMembers(envelope, isResult ? RESULT_KEYS : ERROR_KEYS);
  if (isResult && id === undefined) throw invalid('the response has no id');
  return RESPONSE;
}

const RESPONSE: JsonRpcMessage = {
  kind: 'response',
  id: undefined,
  method: undefined,
  params: {},
  toolName: undefined,
  toolArguments: undefined,
  mirroredName: undefined,
  protocolVersion: undefined,
};

/** A null id is invalid; it does not make the message a notification (MCP, Requests). */
function readId(envelope: JsonObject): MessageId | undefined {
  if (!Object.hasOwn(envelope, 'id')) return undefined;
  const id = envelope['id'];
  if (!isMessageId(id)) throw invalid('"id" is neither a string nor a number');
  return id;
}

/** `1e400` is a number in JSON, but `Infinity` once it is parsed. */
function isMessageId(id: unknown): id is MessageId {
  return isText(id) || (typeof id === 'number' && Number.isFinite(id));
}

/**
 * A lone surrogate has no UTF-8, so parsers replace it in different ways. C ends a text at U+0000, so
 * that `drop_table\u0000` would call `drop_table`.
 */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

function readCall(envelope: JsonObject, id: MessageId | undefined): JsonRpcMessage {
  const method = envelope['method'];
  if (!isText(method)) throw invalid('"method" is not a text');
  const params = readParams(envelope);
  const callsTool = method === TOOLS_CALL;
  return {
    kind: id === undefined ? 'notification' : 'request',
    id,
    method,
    params,
    toolName: callsTool ? readToolName(params) : undefined,
    toolArguments: callsTool ? readToolArguments(params) : undefined,
    mirroredName: readMirroredName(method, params),
    protocolVersion: readProtocolVersion(params),
  };
}

function readParams(envelope: JsonObject): JsonObject {
  const params = member(envelope, 'params') ?? {};
  if (!isRecord(params)) throw invalid('"params" is not an object');
  refuseCaseVariants(params, PARAMS_KEYS);
  return params;
}

function readToolName(params: JsonObject): string {
  const name = member(params, 'name');
  if (!isText(name)) throw invalid('"name" of the tool is not a text');
  return name;
}

function readToolArguments(params: JsonObject): JsonObject {
  const toolArguments = member(params, 'arguments') ?? {};
  if (!isRecord(toolArguments)) throw invalid('"arguments" of the tool is not an object');
  return toolArguments;
}

function readMirroredName(method: string, params: JsonObject): string | undefined {
  const mirrored = MIRRORED_NAMES.get(method);
  const name = mirrored === undefined ? undefined : member(params, mirrored.member);
  if (typeof name !== 'string') return undefined;
  if (!isText(name)) throw invalid('the mirrored name is not a text');
  return name;
}

function readProtocolVersion(params: JsonObject): string | undefined {
  const meta = member(params, '_meta') ?? undefined;
  if (meta === undefined) return undefined;
  if (!isRecord(meta)) throw invalid('"_meta" is not an object', INVALID_PARAMS);
  refuseCaseVariants(meta, [VERSION_KEY]);
  const version = member(meta, VERSION_KEY);
  if (version === undefined || typeof version === 'string') return version;
  throw invalid(`"${VERSION_KEY}" is not a string`, INVALID_PARAMS);
}

/**
 * The schema of MCP has no other members, and the official servers accept none.
 *
 * Attack: a server that takes the name of a tool, or a session, from a member beside `params`.
 */
function refuseForeignMembers(envelope: JsonObject, known: readonly string[]): void {
  for (const key of Object.keys(envelope)) {
    if (known.includes(key)) continue;
    throw invalid(`a message of this kind has no members besides ${known.join(', ')}`);
  }
}

function refuseCaseVariants(object: JsonObject, names: readonly string[]): void {
  const name = findCaseVariant(object, names);
  if (name !== undefined) throw invalid(`a key differs from "${name}" in case only`);
}
