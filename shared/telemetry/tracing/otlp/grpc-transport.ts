import { createSecureContext } from 'node:tls';

import {
  Client,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { ExportResponse, IExporterTransport } from '@opentelemetry/otlp-exporter-base';

import { ExportFailure } from './export-failure.ts';

const METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const MAX_RECONNECT_DELAY = 10_000;

/** OTLP/gRPC, Failures. A collector that wants to be asked again says UNAVAILABLE. */
const RETRYABLE: ReadonlySet<number> = new Set([
  status.CANCELLED,
  status.DEADLINE_EXCEEDED,
  status.ABORTED,
  status.OUT_OF_RANGE,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

/**
 * Sends exports over gRPC.
 *
 * OpenTelemetry's own transport cannot be kept from using the proxies that the environment names (decision D-206).
 */
export class GrpcTransport implements IExporterTransport {
  readonly #client: Client;
  readonly #metadata = new Metadata();
  readonly #calls = new Set<ClientUnaryCall>();

  constructor(endpoint: URL, headers: Readonly<Record<string, string>>) {
    for (const [name, value] of Object.entries(headers)) this.#metadata.set(name, value);
    const isSecure = endpoint.protocol === 'https:';
    const secured = isSecure
      ? credentials.createFromSecureContext(createSecureContext())
      : credentials.createInsecure();
    this.#client = new Client(endpoint.host, secured, {
      'grpc.enable_http_proxy': 0,
      'grpc.primary_user_agent': 'gatehouse',
      'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_DELAY,
    });
  }

  send(data: Uint8Array, timeoutMs: number): Promise<ExportResponse> {
    return new Promise((resolve) => {
      const call = this.#client.makeUnaryRequest(
        METHOD,
        (request: Uint8Array) => Buffer.from(request),
        (response: Buffer) => response,
        data,
        this.#metadata,
        { deadline: Date.now() + timeoutMs },
        (error, response) => {
          this.#calls.delete(call);
          if (error !== null) resolve({ status: 'failure', error: failureOf(error) });
          else resolve({ status: 'success', ...(response && { data: response }) });
        },
      );
      this.#calls.add(call);
    });
  }

  /** Ends the exports that are under way. */
  shutdown(): void {
    for (const call of this.#calls) call.cancel();
    this.#client.close();
  }
}

function failureOf({ code, details }: ServiceError): ExportFailure {
  const text = `gRPC status ${status[code]}: ${describeDetails(details)}`;
  return new ExportFailure(text, RETRYABLE.has(code));
}

/** Leaves out the times and empty notes that the library adds, so that one cause always has the same text. */
function describeDetails(details: string): string {
  if (details.includes('Last error: Protocol error')) {
    return 'no gRPC is spoken there: it may be the port for HTTP';
  }
  return details.replace(/ \(\d{4}-[-:.\dT]+Z\)/g, '').replace(/ Resolution note: $/, '');
}
