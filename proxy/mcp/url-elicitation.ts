import { isRecord } from '../../shared/runtime/is-record.ts';
import { member, type JsonObject } from '../json/json-object.ts';
import type { JsonRpcMessage } from './json-rpc.ts';
import { isStateless } from './mirrored-headers.ts';

/** Requests that need a user's input now and then: servers may ask for it (MCP 2026-07-28, MRTR). */
const METHODS_WITH_INPUT = ['tools/call', 'prompts/get', 'resources/read'];

const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

/** Names the gateway's request for input among those of a result. */
const INPUT_KEY = 'dev.gatehouse/connect';

/** MCP 2025-11-25, Elicitation, URL Elicitation Required Error. */
const URL_ELICITATION_REQUIRED = -32042;

/** The page that a user is asked to open. */
export interface ElicitedPage {
  readonly url: string;
  /** For the user: why. */
  readonly message: string;
  /** For programs. */
  readonly reason: string;
  /** Finds the record in the log. */
  readonly requestId: string;
}

/**
 * Returns how the client of a request can be asked to have its user open a URL; undefined if it cannot.
 *
 * Since 2026-07-28 each request says what its client is capable of. Before, the client said it when it
 * began its session: `sessionTakesUrls`.
 */
export function elicitationForm(
  { kind, method = '', params, protocolVersion = '' }: JsonRpcMessage,
  sessionTakesUrls: boolean,
): 'error' | 'result' | undefined {
  if (kind !== 'request' || !METHODS_WITH_INPUT.includes(method)) return undefined;
  if (!isStateless(protocolVersion)) return sessionTakesUrls ? 'error' : undefined;
  return takesUrls(objectAt(objectAt(params, '_meta'), CAPABILITIES_KEY)) ? 'result' : undefined;
}

/** Returns whether a client that begins a session says that it opens URLs for its user. */
export function beginsWithUrls({ method, params }: JsonRpcMessage): boolean {
  return method === 'initialize' && takesUrls(objectAt(params, 'capabilities'));
}

/** MCP, Elicitation, Capabilities: without `url`, a client has forms only. */
function takesUrls(capabilities: JsonObject): boolean {
  return isRecord(member(objectAt(capabilities, 'elicitation'), 'url'));
}

function objectAt(object: JsonObject, name: string): JsonObject {
  const value = member(object, name);
  return isRecord(value) ? value : {};
}

/** Returns whether the user of a repeated request was asked to open a URL, and did not want to. */
export function declinesUrl({ params }: JsonRpcMessage): boolean {
  const response = objectAt(objectAt(params, 'inputResponses'), INPUT_KEY);
  const action = member(response, 'action');
  return action === 'decline' || action === 'cancel';
}

/** Returns the state of an exchange between client and server that a request continues. */
export function requestStateOf({ params }: JsonRpcMessage): string | undefined {
  const state = member(params, 'requestState');
  return typeof state === 'string' ? state : undefined;
}

/** Returns the error by which clients before 2026-07-28 are asked to have their user open a page. */
export function urlElicitationError(
  { url, message, reason, requestId }: ElicitedPage,
  elicitationId: string,
): JsonObject {
  const elicitations = [{ mode: 'url', elicitationId, url, message }];
  const data = { elicitations, reason, request_id: requestId };
  return { code: URL_ELICITATION_REQUIRED, message, data };
}

/** Returns the result by which clients since 2026-07-28 are asked to have their user open a page. */
export function inputRequiredResult(
  { url, message, reason, requestId }: ElicitedPage,
  requestState: string | undefined,
): JsonObject {
  const params = { mode: 'url', url, message };
  return {
    resultType: 'input_required',
    inputRequests: { [INPUT_KEY]: { method: 'elicitation/create', params } },
    ...(requestState !== undefined && { requestState }),
    // MCP, General fields, _meta: the prefix is a reversed domain.
    _meta: { 'dev.gatehouse/reason': reason, 'dev.gatehouse/request_id': requestId },
  };
}
