import {
  createOtlpNetworkExportDelegate,
  ExporterMetrics,
  type IExporterTransport,
} from '@opentelemetry/otlp-exporter-base';
import {
  type IExportTraceServiceResponse,
  JsonTraceSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer';

import type { TracingSettings } from '../tracing-settings.ts';
import { exportAsJson } from './export-as-json.ts';
import { encodeExport } from './export-request.ts';
import { HttpTransport } from './http-transport.ts';
import type { SpanBatch } from './span-batches.ts';

/** Attributes of the process whose spans are exported. */
type Resource = Readonly<Record<string, string>>;

/** A collector, by one set of settings. */
export interface CollectorConnection {
  /** Exports spans, and returns how many of them the collector rejected. Throws `ExportFailure`. */
  export(batch: SpanBatch): Promise<number>;
  /** Ends the exports that are under way. */
  close(): void;
}

/** Creates the connection to the collector of the settings. It loads what the protocol needs. */
export async function connectToCollector(
  settings: TracingSettings,
  resource: Resource,
): Promise<CollectorConnection> {
  const transport = await transportOf(settings);
  let rejected: unknown;
  const serializer = isJson(settings) ? JsonTraceSerializer : ProtobufTraceSerializer;
  const delegate = createOtlpNetworkExportDelegate<SpanBatch, IExportTraceServiceResponse>(
    { timeoutMillis: settings.timeoutMs, concurrencyLimit: Infinity, compression: 'none' },
    {
      serializeRequest: (batch) => {
        const request = encodeExport(resource, batch);
        return isJson(settings) ? Buffer.from(exportAsJson(request)) : request;
      },
      deserializeResponse: (data) => {
        rejected = serializer.deserializeResponse(data).partialSuccess?.rejectedSpans;
        // Without what was read: OpenTelemetry would write a line for each partial success.
        return {};
      },
    },
    NO_METRICS,
    transport,
  );
  return {
    export: (batch) =>
      new Promise((resolve, reject) => {
        delegate.export(batch, ({ error }) => {
          // The response was read at once before this.
          const count = rejectedOf(batch, rejected);
          rejected = undefined;
          if (error === undefined) resolve(count);
          else reject(error);
        });
      }),
    close: () => {
      transport.shutdown();
    },
  };
}

/** Returns how many spans of a batch were rejected; the collector may say anything, in JSON as a text too. */
function rejectedOf({ count }: SpanBatch, said: unknown): number {
  const rejected = Math.trunc(Number(said));
  return rejected > 0 ? Math.min(rejected, count) : 0;
}

function isJson({ protocol }: TracingSettings): boolean {
  return protocol === 'http/json';
}

async function transportOf(settings: TracingSettings): Promise<IExporterTransport> {
  const { headers } = settings;
  const url = new URL(settings.endpoint);
  if (settings.protocol === 'grpc') {
    const { GrpcTransport } = await import('./grpc-transport.ts');
    return new GrpcTransport(url, headers);
  }
  const contentType = isJson(settings) ? 'application/json' : 'application/x-protobuf';
  return new HttpTransport({ url, headers, contentType });
}

/** The gateway counts its spans itself. */
const NO_METRICS = new ExporterMetrics<SpanBatch>({
  componentType: 'otlp_span_exporter',
  metricsHelper: { name: 'span', countItems: ({ count }) => count },
  url: undefined,
  meterProvider: undefined,
  responseAttributesFromError: () => ({}),
});
