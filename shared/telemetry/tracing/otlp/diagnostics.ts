import { diag, DiagLogLevel } from '@opentelemetry/api';

import { describeError } from '../../describe-error.ts';
import type { Logger } from '../../logger.ts';
import { cleanText } from '../clean-text.ts';
import type { TracingSettings } from '../tracing-settings.ts';

const LEVELS: Readonly<Record<TracingSettings['logLevel'], DiagLogLevel>> = {
  none: DiagLogLevel.NONE,
  error: DiagLogLevel.ERROR,
  warn: DiagLogLevel.WARN,
  info: DiagLogLevel.INFO,
  debug: DiagLogLevel.DEBUG,
  verbose: DiagLogLevel.VERBOSE,
  all: DiagLogLevel.ALL,
};

/** Writes OpenTelemetry's own messages to the log, from the level of `OTEL_LOG_LEVEL` on. */
export function logDiagnostics(logger: Logger, level: TracingSettings['logLevel']): void {
  const write =
    (to: 'info' | 'warn' | 'error') =>
    (...parts: readonly unknown[]) => {
      logger[to]('message of OpenTelemetry', { text: textOf(parts) });
    };
  const info = write('info');
  diag.setLogger(
    { error: write('error'), warn: write('warn'), info, debug: info, verbose: info },
    { logLevel: LEVELS[level], suppressOverrideMessage: true },
  );
}

/** Objects are left out: they are exports, and what came back. */
function textOf(parts: readonly unknown[]): string {
  const texts = parts.flatMap((part) => {
    if (part instanceof Error) return describeError(part);
    return typeof part === 'string' ? part : [];
  });
  return cleanText(texts.join(' '));
}
