import { cleanText } from '../clean-text.ts';
import { describeError } from '../../describe-error.ts';

/** An export that failed. `message` holds no header fields, and nothing that the collector sent back. */
export class ExportFailure extends Error {
  override readonly name = 'ExportFailure';
  /** Whether the same spans may be accepted later (OTLP, Failures). */
  readonly isRetryable: boolean;

  constructor(message: string, isRetryable: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isRetryable = isRetryable;
  }
}

/** What a header field of an export may hold besides secrets: such short values are in every text. */
const SHORT = 4;

/** Returns what the log says of the cause of a failed export: no value of a header field, whoever repeats it. */
export function describeFailure(error: unknown, headers: Readonly<Record<string, string>>): string {
  const secrets = Object.values(headers).filter(({ length }) => length > SHORT);
  const text = secrets.reduce(
    (rest, secret) => rest.replaceAll(secret, '[header]'),
    describeError(error),
  );
  return cleanText(text);
}
