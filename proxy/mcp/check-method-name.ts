import { InvalidMessageError } from '../errors/request-errors.ts';
import { INVALID_REQUEST } from './json-rpc-codes.ts';
import { TOOLS_CALL, type JsonRpcMessage } from './json-rpc.ts';

/** Printable ASCII without space, `%` and `\`: no server reads such a name as another one by decoding it. */
const PLAIN = /^[!-$&-[\]-~]+$/;
const NEITHER_LETTER_NOR_DIGIT = /[^a-z\d]+/gi;
const LETTERS_OF_TOOLS_CALL = 'toolscall';

/**
 * Refuses a method that a lenient server could take for `tools/call`: `Tools/Call`, `tools//call`,
 * `tools%2Fcall`, or one with a space or letters from elsewhere in Unicode. For routes with a policy that
 * names tools.
 *
 * Attack: policy finds no tool in such a message, and permits it like `tools/list`.
 */
export function checkMethodName({ method, id }: JsonRpcMessage): void {
  if (method === undefined || method === TOOLS_CALL) return;
  if (!PLAIN.test(method)) throw refusal('"method" has characters that no method has', id);
  const letters = method.replace(NEITHER_LETTER_NOR_DIGIT, '').toLowerCase();
  if (letters === LETTERS_OF_TOOLS_CALL) {
    throw refusal(`"method" could be taken for "${TOOLS_CALL}"`, id);
  }
}

function refusal(message: string, id: JsonRpcMessage['id']): InvalidMessageError {
  return new InvalidMessageError(message, { code: INVALID_REQUEST, id: id ?? null });
}
