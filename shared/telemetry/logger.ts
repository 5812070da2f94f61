import { Writable } from 'node:stream';

import winston from 'winston';

import { describeError } from './describe-error.ts';
import type { LineWriter } from './line-writer.ts';

/** Data of a log record. Never secrets, tokens or codes. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log of a process: the message is a constant, data are fields. */
export interface Logger {
  /** `cause` becomes the field `error`: what went wrong, with its chain of causes. */
  info(message: string, fields?: LogFields, cause?: unknown): void;
  warn(message: string, fields?: LogFields, cause?: unknown): void;
  error(message: string, fields?: LogFields, cause?: unknown): void;
}

/** A logger that writes JSON lines with `level`, `service`, `time` and `message`. */
export function createLogger(service: string, lines: LineWriter): Logger {
  const logger = winston.createLogger({
    level: 'info',
    format: winston.format.printf(({ level, message, fields }) => {
      const own = { level, service, time: new Date().toISOString(), message };
      // In this order in the line, and no field takes their place.
      return JSON.stringify({ ...own, ...Object(fields), ...own });
    }),
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- its types say so
    transports: new winston.transports.Stream({ stream: sinkOf(lines), eol: '' }),
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

function withCause(fields: LogFields = {}, cause: unknown): LogFields {
  return cause === undefined ? fields : { ...fields, error: describeError(cause) };
}

function sinkOf(lines: LineWriter): Writable {
  return new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      lines.write(line);
      done();
    },
  });
}
