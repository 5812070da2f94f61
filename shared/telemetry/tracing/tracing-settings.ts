import type {
  IncomingContext,
  OtlpProtocol,
  TracingLogLevel,
} from '../../snapshot/compiled-tracing.ts';

/** Tracing as it is in force: complete and valid (specification: Tracing settings). */
export interface TracingSettings {
  readonly exporter: 'otlp';
  /** With HTTP the URL that exports are sent to, with gRPC the origin. */
  readonly endpoint: string;
  readonly protocol: OtlpProtocol;
  /** Fields of every export, by lower-case name. Their values may be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long an export may take. */
  readonly timeoutMs: number;
  /** Share of the traces that are sampled, from 0 to 1. */
  readonly samplingRatio: number;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  /** The longest time that a span waits for its export; at least 100. */
  readonly scheduleDelayMs: number;
  /** The number of waiting spans that are exported at once; at least 1. */
  readonly maxExportBatchSize: number;
  /** The most characters of an attribute's text; at least 1. */
  readonly attributeValueLengthLimit: number;
  readonly logLevel: TracingLogLevel;
  readonly incomingContext: IncomingContext;
}
