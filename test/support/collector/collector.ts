import { eventually } from '../eventually.ts';

import type { CollectorBehavior } from './collector-behavior.ts';
import { answerExport, keepsSpans, type ExportAnswer } from './export-answer.ts';
import { startGrpcReceiver } from './grpc-receiver.ts';
import { startHttpReceiver } from './http-receiver.ts';
import { readSpans } from './read-spans.ts';
import { decodeExport, type RawExport, type ReceivedProtocol } from './receive-export.ts';
import type { ReceivedSpan } from './received-span.ts';
import { buildSpanTrees, type SpanTree } from './span-tree.ts';
import { ViolationError } from './violation-error.ts';

/** A request that a collector received, whether it accepted it or not. */
export interface ReceivedExport {
  readonly protocol: ReceivedProtocol;
  /** Header fields or gRPC metadata by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly spans: readonly ReceivedSpan[];
  readonly isAccepted: boolean;
}

/** Ports for a collector that comes back where another one was; without one, any port. */
export interface CollectorPorts {
  readonly httpPort?: number;
  readonly grpcPort?: number;
}

/**
 * A collector of spans. It is strict: what the official protobuf definitions do not allow is refused, and
 * disposing of the collector throws then, so that the test fails.
 */
export class Collector implements AsyncDisposable {
  /** Requests that were valid, in the order of their arrival. */
  readonly exports: ReceivedExport[] = [];
  /** What it does with valid requests from now on. */
  behavior: CollectorBehavior = { kind: 'accept' };

  readonly #violations: ViolationError[] = [];
  readonly #receivers = new AsyncDisposableStack();
  #httpPort = 0;
  #grpcPort = 0;

  /** Listens on loopback, for all three protocols. */
  static async start({ httpPort = 0, grpcPort = 0 }: CollectorPorts = {}): Promise<Collector> {
    const collector = new Collector();
    const handle = (raw: RawExport): Promise<ExportAnswer | undefined> => collector.#receive(raw);
    const http = await startHttpReceiver(httpPort, handle, (violation) => {
      collector.#violations.push(violation);
    });
    collector.#receivers.use(http);
    const grpc = collector.#receivers.use(await startGrpcReceiver(grpcPort, handle));
    collector.#httpPort = http.port;
    collector.#grpcPort = grpc.port;
    return collector;
  }

  get httpPort(): number {
    return this.#httpPort;
  }

  get grpcPort(): number {
    return this.#grpcPort;
  }

  /** What OTEL_EXPORTER_OTLP_ENDPOINT is for a protocol. */
  endpoint(protocol: ReceivedProtocol): string {
    const port = protocol === 'grpc' ? this.#grpcPort : this.#httpPort;
    return `http://127.0.0.1:${String(port)}`;
  }

  /** Spans that it accepted, in the order of their arrival. A span that was sent twice is there twice. */
  get spans(): ReceivedSpan[] {
    return this.exports.flatMap(({ isAccepted, spans }) => (isAccepted ? spans : []));
  }

  /** Trees of a trace, as far as its spans have arrived. */
  trace(traceId: string): SpanTree[] {
    return buildSpanTrees(this.spans.filter((span) => span.traceId === traceId));
  }

  /** Waits until it has accepted a span for which this holds, and returns the first. */
  async span(what: string, holds: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
    let found: ReceivedSpan | undefined;
    await eventually(`the collector has ${what}`, () => {
      found = this.spans.find(holds);
      return found !== undefined || this.#violations.length > 0;
    });
    if (found === undefined) throw this.#violations[0] ?? new Error(what);
    return found;
  }

  /** Returns what it refused, as text, and no longer fails for it. */
  takeViolations(): string[] {
    return this.#violations.splice(0).map(({ message }) => message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#receivers.disposeAsync();
    if (this.#violations.length > 0) {
      throw new AggregateError(this.#violations, this.takeViolations().join('\n'));
    }
  }

  async #receive(raw: RawExport): Promise<ExportAnswer | undefined> {
    try {
      const spans = readSpans(decodeExport(raw));
      const { behavior } = this;
      const { protocol, headers } = raw;
      this.exports.push({ protocol, headers, spans, isAccepted: keepsSpans(behavior) });
      return await answerExport(behavior);
    } catch (error) {
      if (!(error instanceof ViolationError)) throw error;
      this.#violations.push(error);
      return { error: error.message, kind: 'invalid' };
    }
  }
}
