import { describeError } from '../describe-error.ts';
import { cleanText } from './clean-text.ts';

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
  const message = cleanText(describeError(error));
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
