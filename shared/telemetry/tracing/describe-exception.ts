import { describeError } from '../describe-error.ts';

/** What a span says of an error. */
export interface DescribedException {
  /** The `reason` of a `GatewayError`, else the name of the class. */
  readonly type: string;
  /** The message with those of its causes, without what does not belong in a trace. */
  readonly message: string;
  /** Where it was thrown, for errors that are bugs or come from elsewhere. */
  readonly stack: string | undefined;
  /** Whether it is the caller's fault: a refusal with a status below 500. */
  readonly isRefusal: boolean;
}

const SERVER_ERRORS = 500;

/** Describes an error for a trace, which others read than the log. */
export function describeException(error: unknown): DescribedException {
  const message = withoutPersonalData(describeError(error));
  if (!(error instanceof Error)) {
    return { type: typeof error, message, stack: undefined, isRefusal: false };
  }
  if (isGatewayError(error)) {
    const isRefusal = error.status < SERVER_ERRORS;
    return { type: error.reason, message, stack: undefined, isRefusal };
  }
  return { type: error.name, message, stack: framesOf(error), isRefusal: false };
}

/** `GatewayError` belongs to proxies: this is what it looks like from here. */
function isGatewayError(error: Error): error is Error & { reason: string; status: number } {
  return (
    'reason' in error &&
    typeof error.reason === 'string' &&
    'status' in error &&
    typeof error.status === 'number'
  );
}

/** Returns the stack without the message, which may have several lines. */
function framesOf({ stack = '' }: Error): string | undefined {
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '));
  return frames.length === 0 ? undefined : frames.join('\n');
}

/** Longer messages are cut before they are searched. */
const MAX_SEARCHED = 2_048;

const USER_INFO = /\/\/[^\s/?#@"']{1,256}@/g;
const QUERY = /[?#][\w.~%+[\]-]{1,256}=[^\s"'<>]*/g;
const END_OF_URL = /(?<=[a-z]:\/\/[^\s?#"'<>]{0,1024})[?#][^\s"'<>]*/gi;
const E_MAIL = /[^\s@<>"'()]{1,64}@[^\s@<>"'()]{1,255}/g;
const KNOWN_TOKEN = /\b(?:eyJ|gte_|gtr_)[\w.-]+/g;
const LONG_WORD = /[\w-]{24,}/g;

/**
 * Removes queries of URLs, e-mail addresses and what looks like a token.
 *
 * Messages hold none by the project's rules; this is for those of libraries and other servers.
 */
function withoutPersonalData(text: string): string {
  return text
    .slice(0, MAX_SEARCHED)
    .replace(USER_INFO, '//')
    .replace(QUERY, '')
    .replace(END_OF_URL, '')
    .replace(E_MAIL, '[address]')
    .replace(KNOWN_TOKEN, '[token]')
    .replace(LONG_WORD, (word) => (isRandom(word) ? '[token]' : word));
}

/** Tokens, codes and keys mix cases and digits; ids of requests and names of hosts do not. */
function isRandom(word: string): boolean {
  return /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word);
}
