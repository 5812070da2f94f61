import { InvalidMessageError } from '../errors/request-errors.ts';
import { INVALID_PARAMS } from './json-rpc-codes.ts';
import type { JsonRpcMessage } from './json-rpc.ts';

/** Twice what MCP 2025-11-25 recommends (Tools, Tool Names). */
const MAX_LENGTH = 256;

/**
 * Refuses the name of a tool that is longer than any. For routes with a policy that names tools.
 *
 * Attack: the author of a Route with a thousand criteria, and a body that may be long, could stall every
 * other route. One name of a megabyte took 15 seconds.
 */
export function checkToolName({ toolName, id }: Pick<JsonRpcMessage, 'toolName' | 'id'>): void {
  if (toolName === undefined || toolName.length <= MAX_LENGTH) return;
  const message = `"name" of the tool is longer than ${String(MAX_LENGTH)} characters`;
  throw new InvalidMessageError(message, { code: INVALID_PARAMS, id: id ?? null });
}
