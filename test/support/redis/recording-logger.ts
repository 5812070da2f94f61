import type { Logger, LogFields } from '../../../shared/telemetry/logger.ts';
import { describeError } from '../../../shared/telemetry/describe-error.ts';

/** One call of a logger. */
export interface RecordedLog {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that records everything. */
export interface RecordingLogger extends Logger {
  readonly records: readonly RecordedLog[];
  /** The messages at that level, in order. */
  messages(level: RecordedLog['level']): readonly string[];
}

/** Makes a recording logger. */
export function createRecordingLogger(): RecordingLogger {
  const records: RecordedLog[] = [];
  const at =
    (level: RecordedLog['level']) =>
    (message: string, fields: LogFields = {}, cause?: unknown): void => {
      const error = cause === undefined ? {} : { error: describeError(cause) };
      records.push({ level, message, fields: { ...fields, ...error } });
    };
  return {
    records,
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    messages: (level) => records.filter((each) => each.level === level).map((each) => each.message),
  };
}
