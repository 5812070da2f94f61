/** Value of an attribute. Integers are numbers, since none of ours is above 2^53. */
export type ReceivedAttribute = string | number | boolean | readonly ReceivedAttribute[];

export type ReceivedAttributes = Readonly<Record<string, ReceivedAttribute>>;

export type ReceivedSpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** A span as a collector received it. Ids are in hexadecimal, times in nanoseconds since 1970. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Absent for the root of a trace. */
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: ReceivedSpanKind;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: ReceivedAttributes;
  readonly events: readonly {
    readonly name: string;
    readonly time: bigint;
    readonly attributes: ReceivedAttributes;
  }[];
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly traceState?: string;
    readonly attributes: ReceivedAttributes;
  }[];
  readonly status: { readonly code: 'unset' | 'ok' | 'error'; readonly message?: string };
  /** Attributes of the process that made it. */
  readonly resource: ReceivedAttributes;
  /** Name of the instrumentation scope. */
  readonly scope: string;
}
