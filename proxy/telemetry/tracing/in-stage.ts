import { withTrace } from '../../../shared/telemetry/tracing/active-trace.ts';
import type { SpanName } from '../../../shared/telemetry/tracing/names.ts';
import type { Span } from '../../../shared/telemetry/tracing/trace.ts';

/**
 * Runs a stage in a child span, which ends with the stage and records its error. Unlike `inSpan`, it needs no
 * promise for a stage that waits for nothing.
 */
export function inStage<Result>(
  parent: Span,
  name: SpanName,
  stage: (span: Span) => Result | Promise<Result>,
): Result | Promise<Result> {
  const span = parent.child(name, 'internal');
  const fail = (error: unknown): never => {
    span.recordError(error);
    span.end();
    throw error;
  };
  try {
    const result = withTrace(span, () => stage(span));
    if (result instanceof Promise) {
      return result.then((value: Result) => {
        span.end();
        return value;
      }, fail);
    }
    span.end();
    return result;
  } catch (error) {
    return fail(error);
  }
}
