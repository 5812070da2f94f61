import type { Environment } from '../../../runtime/environment.ts';
import { findUnmeant } from '../../../runtime/forbidden-character.ts';
import { withoutAbsent } from '../../../runtime/without-absent.ts';
import {
  OTLP_PROTOCOLS,
  TRACING_LOG_LEVELS,
  type CompiledTracing,
  type OtlpEndpoint,
} from '../../../snapshot/compiled-tracing.ts';
import { exportHeaderFault } from './export-header.ts';
import { parsePairs } from './parse-pairs.ts';

/** A variable of the environment has a value that its setting cannot have. The message names it. */
export class TracingVariableError extends Error {
  override readonly name = 'TracingVariableError';
}

/** The largest number of an int32, and the longest timer of Node. */
const INT32_MAX = 2_147_483_647;

/** Returns the setting that a text stands for. Throws `TracingVariableError` that says what it must be. */
type Parser<Value> = (text: string) => Value;

/**
 * Reads the tracing settings of the environment (specification: Tracing settings). An empty variable counts
 * as unset. Of two variables for one setting the one with TRACES wins.
 *
 * Throws `TracingVariableError` for the first bad value.
 */
export function readTracingEnvironment(environment: Environment): CompiledTracing {
  return withoutAbsent<CompiledTracing>({
    exporter: read(environment, 'OTEL_TRACES_EXPORTER', oneOf(['otlp', 'none'])),
    endpoint: readEither(environment, 'ENDPOINT', {
      general: endpoint({ isComplete: false }),
      traces: endpoint({ isComplete: true }),
    }),
    protocol: readEither(environment, 'PROTOCOL', both(oneOf(OTLP_PROTOCOLS))),
    headers: readEither(environment, 'HEADERS', both(headers)),
    timeoutMs: readEither(environment, 'TIMEOUT', both(milliseconds(1))),
    samplingRatio: read(environment, 'OTEL_TRACES_SAMPLER_ARG', ratio),
    resourceAttributes: read(environment, 'OTEL_RESOURCE_ATTRIBUTES', pairs),
    scheduleDelayMs: read(environment, 'OTEL_BSP_SCHEDULE_DELAY', milliseconds(100)),
    maxExportBatchSize: read(environment, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', integer(1)),
    logLevel: read(environment, 'OTEL_LOG_LEVEL', oneOf(TRACING_LOG_LEVELS)),
    attributeValueLengthLimit: read(environment, 'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', integer(1)),
  });
}

/** Parsers of the two variables for one setting. */
interface Parsers<Value> {
  readonly general: Parser<Value>;
  readonly traces: Parser<Value>;
}

function both<Value>(parser: Parser<Value>): Parsers<Value> {
  return { general: parser, traces: parser };
}

/** Both are read, so that a bad value is found whichever wins. */
function readEither<Value>(
  environment: Environment,
  setting: string,
  { general, traces }: Parsers<Value>,
): Value | undefined {
  const fallback = read(environment, `OTEL_EXPORTER_OTLP_${setting}`, general);
  return read(environment, `OTEL_EXPORTER_OTLP_TRACES_${setting}`, traces) ?? fallback;
}

function read<Value>(
  environment: Environment,
  variable: string,
  parse: Parser<Value>,
): Value | undefined {
  const text = environment[variable]?.trim();
  if (text === undefined || text === '') return undefined;
  const unmeant = findUnmeant(text);
  if (unmeant !== undefined) {
    throw new TracingVariableError(`${variable} must not have the character ${unmeant.name}`);
  }
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TracingVariableError)) throw error;
    throw new TracingVariableError(`${variable} ${error.message}`);
  }
}

/** In any case, as OpenTelemetry wants enumerated variables to be read. */
function oneOf<const Value extends string>(values: readonly Value[]): Parser<Value> {
  return (text) => {
    const value = values.find((each) => each === text.toLowerCase());
    if (value === undefined) throw new TracingVariableError(`must be one of ${values.join(', ')}`);
    return value;
  };
}

function integer(minimum: number, kind = 'whole number'): Parser<number> {
  return (text) => {
    const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : -1;
    if (value >= minimum && value <= INT32_MAX) return value;
    const range = `${String(minimum)} to ${String(INT32_MAX)}`;
    throw new TracingVariableError(`must be a ${kind} from ${range}`);
  };
}

function milliseconds(minimum: number): Parser<number> {
  return integer(minimum, 'whole number of milliseconds');
}

function ratio(text: string): number {
  const value = /^[0-9]+(\.[0-9]+)?([eE]-?[0-9]{1,3})?$/.test(text) ? Number(text) : -1;
  if (value >= 0 && value <= 1) return value;
  throw new TracingVariableError('must be a number from 0 to 1 such as 0.25');
}

function endpoint({ isComplete }: Pick<OtlpEndpoint, 'isComplete'>): Parser<OtlpEndpoint> {
  const words = `an http or https URL without user${isComplete ? '' : ', query'} and fragment`;
  return (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isUsable =
      url !== undefined &&
      /^https?:$/.test(url.protocol) &&
      url.username + url.password + url.hash === '' &&
      (isComplete || url.search === '');
    if (!isUsable) throw new TracingVariableError(`must be ${words}`);
    return { url: text, isComplete };
  };
}

function pairs(text: string): Readonly<Record<string, string>> {
  const parsed = parsePairs(text);
  if (parsed === undefined) {
    throw new TracingVariableError('must be pairs such as key=value, separated by commas');
  }
  return parsed;
}

function headers(text: string): Readonly<Record<string, string>> {
  const fields = Object.entries(pairs(text)).map(([name, value]) => {
    const fault = exportHeaderFault(name, value);
    if (fault !== undefined) throw new TracingVariableError(fault);
    return [name.toLowerCase(), value] as const;
  });
  return Object.fromEntries(fields);
}
