/** Tracing as it is in force: resolved and valid. */
export interface TracingSettings {
  readonly exporter: 'otlp';
  /** As OTLP wants it: with http the whole URL, with grpc the origin. */
  readonly endpoint: string;
  readonly protocol: 'grpc' | 'http/protobuf' | 'http/json';
  /** Header fields of exports. They may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long one export may take, with its retries. */
  readonly timeoutMs: number;
  /** The part of traces that are recorded, from 0 to 1. */
  readonly samplingRatio: number;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  /** Spans wait at most this long for an export. */
  readonly scheduleDelayMs: number;
  /** Spans that are exported at once. */
  readonly maxExportBatchSize: number;
  /** Characters of a text in a span. */
  readonly attributeValueLengthLimit: number;
  /** What is logged of OpenTelemetry's own messages. */
  readonly logLevel: 'none' | 'error' | 'warn' | 'info' | 'debug' | 'verbose' | 'all';
  /** Whether traces of trusted proxies are continued, or always new ones start that link to them. */
  readonly incomingContext: 'TrustedProxies' | 'NewTrace';
}
