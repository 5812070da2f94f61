/** Protocols that spans are exported with (specification: Tracing settings; OTLP 1.x). */
export const OTLP_PROTOCOLS = ['grpc', 'http/protobuf', 'http/json'] as const;

/** A protocol that spans are exported with. */
export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

/** Levels of what the exporter logs about itself, from nothing to everything. */
export const TRACING_LOG_LEVELS = [
  'none',
  'error',
  'warn',
  'info',
  'debug',
  'verbose',
  'all',
] as const;

/** A level of what the exporter logs about itself. */
export type TracingLogLevel = (typeof TRACING_LOG_LEVELS)[number];

/**
 * What happens to the trace context of a request: that of a trusted proxy is continued, or every request
 * begins a trace and links to it.
 */
export type IncomingContext = 'TrustedProxies' | 'NewTrace';

/** Where spans are exported to. */
export interface OtlpEndpoint {
  readonly url: string;
  /** Whether the URL is used as it is, as the TRACES setting wants it, and not as a base. */
  readonly isComplete: boolean;
}

/**
 * What one source, GatewaySettings or the environment of a process, says about tracing. What it does not say
 * is absent, and the TRACES setting has replaced the general one.
 */
export interface CompiledTracing {
  readonly exporter?: 'otlp' | 'none';
  readonly endpoint?: OtlpEndpoint;
  readonly protocol?: OtlpProtocol;
  /** Fields of every export, by lower-case name. Their values may be secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Share of the traces that are sampled, from 0 to 1. */
  readonly samplingRatio?: number;
  readonly resourceAttributes?: Readonly<Record<string, string>>;
  readonly scheduleDelayMs?: number;
  readonly maxExportBatchSize?: number;
  readonly logLevel?: TracingLogLevel;
  readonly attributeValueLengthLimit?: number;
  readonly incomingContext?: IncomingContext;
}
