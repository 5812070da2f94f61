import type { LogFields, Logger } from '../../shared/telemetry/logger.ts';

export interface LogRecord {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that records every call. */
export function recordingLogger(): Logger & { readonly records: readonly LogRecord[] } {
  const records: LogRecord[] = [];
  const keep =
    (level: LogRecord['level']) =>
    (message: string, fields: LogFields = {}) =>
      void records.push({ level, message, fields });
  return { records, info: keep('info'), warn: keep('warn'), error: keep('error') };
}
