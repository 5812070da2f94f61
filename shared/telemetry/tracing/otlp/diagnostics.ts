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

/** A collector that answers strangely does so at every export. */
const MAX_WARNINGS = 10;

/**
 * Writes OpenTelemetry's own messages to the log, from the level of `OTEL_LOG_LEVEL` on. Warnings and errors are
 * written once, and only the first few.
 */
export function logDiagnostics(logger: Logger, level: TracingSettings['logLevel']): void {
  const write = (to: 'info' | 'warn' | 'error', text: string): void => {
    logger[to]('message of OpenTelemetry', { text });
  };
  const warnings = new Set<string>();
  const warn =
    (to: 'warn' | 'error') =>
    (...parts: readonly unknown[]) => {
      const text = textOf(parts);
      if (warnings.has(text) || warnings.size === MAX_WARNINGS) return;
      warnings.add(text);
      write(to, text);
    };
  const info = (...parts: readonly unknown[]): void => write('info', textOf(parts));
  diag.setLogger(
    { error: warn('error'), warn: warn('warn'), info, debug: info, verbose: info },
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
