import {
  OTLP_PROTOCOLS,
  TRACING_LOG_LEVELS,
  type CompiledTracing,
  type OtlpEndpoint,
} from '../compiled-tracing.ts';
import {
  anyOf,
  boolean,
  integer,
  number,
  objectOf,
  optional,
  recordOf,
  string,
  type Schema,
} from './schema.ts';

const INT32_MAX = 2_147_483_647;

const texts = recordOf(string());

/** Schema of what the settings say about tracing. */
export const tracingSchema: Schema<CompiledTracing> = objectOf<CompiledTracing>({
  exporter: optional(anyOf(['otlp', 'none'])),
  endpoint: optional(objectOf<OtlpEndpoint>({ url: string('^https?://'), isComplete: boolean })),
  protocol: optional(anyOf(OTLP_PROTOCOLS)),
  headers: optional(texts),
  timeoutMs: optional(integer(1, INT32_MAX)),
  samplingRatio: optional(number()),
  resourceAttributes: optional(texts),
  scheduleDelayMs: optional(integer(100, INT32_MAX)),
  maxExportBatchSize: optional(integer(1, INT32_MAX)),
  logLevel: optional(anyOf(TRACING_LOG_LEVELS)),
  attributeValueLengthLimit: optional(integer(1, INT32_MAX)),
  incomingContext: optional(anyOf(['TrustedProxies', 'NewTrace'])),
});
