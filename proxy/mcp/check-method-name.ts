import { InvalidMessageError } from '../errors/request-errors.ts';
import { INVALID_REQUEST } from './json-rpc-codes.ts';
import type { JsonRpcMessage } from './json-rpc.ts';
import { METHODS_OF_CLIENTS } from './methods.ts';

/** Printable ASCII without space, `%` and `\`: no server reads such a name as another one by decoding it. */
const PLAIN = /^[!-$&-[\]-~]+$/;
const NEITHER_LETTER_NOR_DIGIT = /[^a-z\d]+/gi;

/** Longer than any method: every criterion of a policy may read it. */
const MAX_LENGTH = 256;

const BY_LETTERS: ReadonlyMap<string, string> = new Map(
  METHODS_OF_CLIENTS.map((method) => [lettersOf(method), method]),
);

/**
 * Refuses a method that a lenient server could take for another one: `Tools/Call`, `tools//call`,
 * `tools%2Fcall`, or one with a space or letters from elsewhere in Unicode. For routes with a policy that
 * reads messages.
 *
 * Attack: policy finds no tool in such a message, and permits it like `tools/list`.
 */
export function checkMethodName({ method, id }: JsonRpcMessage): void {
  if (method === undefined || METHODS_OF_CLIENTS.includes(method)) return;
  if (!PLAIN.test(method)) throw refusal('"method" has characters that no method has', id);
  if (method.length > MAX_LENGTH) {
    throw refusal(`"method" is longer than ${String(MAX_LENGTH)} characters`, id);
  }
  const known = BY_LETTERS.get(lettersOf(method));
  if (known !== undefined) throw refusal(`"method" could be taken for "${known}"`, id);
}

function lettersOf(method: string): string {
  return method.replace(NEITHER_LETTER_NOR_DIGIT, '').toLowerCase();
}

function refusal(message: string, id: JsonRpcMessage['id']): InvalidMessageError {
  return new InvalidMessageError(message, { code: INVALID_REQUEST, id: id ?? null });
}
