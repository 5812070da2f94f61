import type {
  CompiledTracing,
  OtlpEndpoint,
  OtlpProtocol,
} from '../../../snapshot/compiled-tracing.ts';
import type { TracingSettings } from '../tracing-settings.ts';

const DEFAULTS = {
  headers: {},
  timeoutMs: 10_000,
  samplingRatio: 1,
  resourceAttributes: {},
  scheduleDelayMs: 5_000,
  maxExportBatchSize: 512,
  attributeValueLengthLimit: 256,
  logLevel: 'info',
  incomingContext: 'TrustedProxies',
} as const;

/** The port that collectors receive gRPC at; with 4318 or another one the protocol is HTTP. */
const GRPC_PORT = '4317';

/**
 * Returns the tracing that is in force: what the environment says, then what the settings say, then the
 * defaults; each setting as a whole. Undefined if tracing is off, which it is without an endpoint.
 */
export function resolveTracing(
  settings: CompiledTracing | undefined,
  environment: CompiledTracing,
): TracingSettings | undefined {
  const { exporter, endpoint, protocol, ...others } = { ...settings, ...environment };
  if (exporter !== 'otlp' || endpoint === undefined) return undefined;
  const spoken = protocol ?? inferProtocol(endpoint);
  return {
    ...DEFAULTS,
    ...others,
    exporter,
    protocol: spoken,
    endpoint: exportUrl(endpoint, spoken),
  };
}

/** Returns the protocol that the port of the endpoint stands for (specification: Tracing settings). */
function inferProtocol({ url }: OtlpEndpoint): OtlpProtocol {
  return new URL(url).port === GRPC_PORT ? 'grpc' : 'http/protobuf';
}

/** OTLP exporter specification: a base is extended by the path of the signal; gRPC has no path. */
function exportUrl({ url, isComplete }: OtlpEndpoint, protocol: OtlpProtocol): string {
  if (protocol === 'grpc') return new URL(url).origin;
  if (isComplete) return url;
  return `${url.replace(/\/+$/, '')}/v1/traces`;
}
