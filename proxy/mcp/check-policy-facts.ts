import type { ReadFact } from '../../shared/policy/language/criterion-definition.ts';
import { InvalidMessageError } from '../errors/request-errors.ts';
import { checkMethodName } from './check-method-name.ts';
import { INVALID_PARAMS } from './json-rpc-codes.ts';
import type { JsonRpcMessage } from './json-rpc.ts';
import { subjectsOf, type MessageSubjects } from './message-subjects.ts';
import { hasRoundedInteger } from './rounded-integer.ts';

/** Twice what MCP 2025-11-25 recommends (Tools, Tool Names). */
const MAX_LENGTH = 256;

/**
 * Refuses a message that the policy of its route could read differently from the server. Returns what it is
 * about, if the policy reads that. A policy that reads nothing of messages refuses nothing.
 *
 * Attack: the author of a Route with a thousand criteria, and a body that may be long, could stall every
 * other route. One name of a megabyte took 15 seconds.
 */
export function checkPolicyFacts(
  message: JsonRpcMessage,
  bytes: Buffer,
  reads: ReadonlySet<ReadFact>,
): MessageSubjects | undefined {
  if (!reads.has('message')) return undefined;
  checkMethodName(message);
  const { toolName, id } = message;
  if (toolName !== undefined && reads.has('tool')) {
    if (toolName.length > MAX_LENGTH) {
      throw invalid(`"name" of the tool is longer than ${String(MAX_LENGTH)} characters`, id);
    }
    if (reads.has('tool-arguments') && hasRoundedInteger(bytes.toString('utf8'))) {
      throw invalid('a number in the message has more digits than all parsers read', id);
    }
  }
  return reads.has('resources') || reads.has('prompt') ? subjectsOf(message) : undefined;
}

function invalid(message: string, id: JsonRpcMessage['id']): InvalidMessageError {
  return new InvalidMessageError(message, { code: INVALID_PARAMS, id: id ?? null });
}
