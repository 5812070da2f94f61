import { Writable } from 'node:stream';

import winston from 'winston';

import { cutText } from './cut-text.ts';
import { describeError } from './describe-error.ts';
import { logJson } from './json-string.ts';
import type { LineRank, LineWriter } from './line-writer.ts';

/** Fields of a log record. They never hold secrets, tokens or codes. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log of a process. Messages are constants; data are fields. */
export interface Logger {
  /** `cause` becomes the field `error`, described with its chain of causes. */
  info(message: string, fields?: LogFields, cause?: unknown): void;
  warn(message: string, fields?: LogFields, cause?: unknown): void;
  error(message: string, fields?: LogFields, cause?: unknown): void;
}

/**
 * Creates a logger that writes JSON lines with `level`, `service`, `time` and `message`. Those of the service
 * `audit` are the last that are dropped when nobody reads them.
 */
export function createLogger(service: string, lines: LineWriter): Logger {
  const logger = winston.createLogger({
    level: 'info',
    format: winston.format.printf(({ level, message, fields }) => {
      const own = { level, service, time: new Date().toISOString(), message };
      // They come first, and fields of the same names do not replace them.
      return `${logJson({ ...own, ...Object(fields), ...own }, cutTexts)}\n`;
    }),
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- its types say so
    transports: new winston.transports.Stream({
      stream: sinkOf(lines, service === 'audit' ? 'audit' : 'ordinary'),
      eol: '',
    }),
  });
  return {
    info: (message, fields, cause) =>
      void logger.info(message, { fields: withCause(fields, cause) }),
    warn: (message, fields, cause) =>
      void logger.warn(message, { fields: withCause(fields, cause) }),
    error: (message, fields, cause) =>
      void logger.error(message, { fields: withCause(fields, cause) }),
  };
}

function cutTexts(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? cutText(value) : value;
}

function withCause(fields: LogFields = {}, cause: unknown): LogFields {
  return cause === undefined ? fields : { ...fields, error: describeError(cause) };
}

function sinkOf(lines: LineWriter, rank: LineRank): Writable {
  return new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      lines.write(line, rank);
      done();
    },
  });
}
