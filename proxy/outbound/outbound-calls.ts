import { performance } from 'node:perf_hooks';

import { injectTrace, inSpan } from '../../shared/telemetry/tracing/active-trace.ts';
import type { Attributes, SpanName } from '../../shared/telemetry/tracing/names.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import { OutboundFailedError, OutboundRefusedError } from './outbound-errors.ts';

const SECOND = 1000;

/** Whom the gateway calls besides upstreams. */
export type OutboundKind = 'provider' | 'upstream-oauth' | 'client-metadata';

/** A call, as traces and metrics see it. */
export interface OutboundCall {
  readonly kind: OutboundKind;
  /** What it is for, such as `token`: one of a few names. */
  readonly operation: string;
  readonly method: string;
  readonly url: string;
}

/** Receives how every call ended. */
export interface OutboundObserver {
  /** `outcome` is `status-<code>`, `refused-<kind>`, `failed-<kind>` or `failed`. */
  observe(kind: OutboundKind, operation: string, outcome: string, seconds: number): void;
}

/** Header fields with lower-case names. */
type Fields = Readonly<Record<string, string>>;

/** Traces and measures the calls that the gateway makes to other servers than upstreams. */
export class OutboundCalls {
  readonly #observer: OutboundObserver | undefined;

  constructor(observer?: OutboundObserver) {
    this.#observer = observer;
  }

  /** Makes a call. `send` adds the given fields to its request: they carry the trace, if the server may know it. */
  async run<Response extends { readonly status: number }>(
    call: OutboundCall,
    send: (traceFields: Fields) => Promise<Response>,
  ): Promise<Response> {
    const { kind, operation } = call;
    const startedAt = performance.now();
    let outcome = 'failed';
    try {
      const response = await inSpan(SPAN_NAMES[kind], 'client', attributesOf(call), (span) =>
        send(traceFields(kind)).then((received) => {
          span?.set('http.response.status_code', received.status);
          if (isFailure(kind, received.status)) span?.fail(String(received.status));
          return received;
        }),
      );
      outcome = `status-${String(response.status)}`;
      return response;
    } catch (error) {
      outcome = outcomeOf(error);
      throw error;
    } finally {
      this.#observer?.observe(kind, operation, outcome, (performance.now() - startedAt) / SECOND);
    }
  }

  /** Returns a guarded fetch whose calls are all of one kind. */
  through(guardedFetch: GuardedFetch, kind: OutboundKind, operation: string): GuardedFetch {
    return (url, options) =>
      this.run({ kind, operation, method: options.method ?? 'GET', url }, (fields) =>
        guardedFetch(url, { ...options, headers: { ...options.headers, ...fields } }),
      );
  }
}

const SPAN_NAMES: Readonly<Record<OutboundKind, SpanName>> = {
  provider: 'identity provider request',
  'upstream-oauth': 'upstream OAuth request',
  'client-metadata': 'client metadata request',
};

const CLIENT_ERROR = 400;
const SERVER_ERROR = 500;

/** At upstreams the gateway looks for what is there, and 401 and 404 are answers to that. */
function isFailure(kind: OutboundKind, status: number): boolean {
  return status >= (kind === 'upstream-oauth' ? SERVER_ERROR : CLIENT_ERROR);
}

/** Without path and query: paths hold ids of clients and users at some providers. */
function attributesOf({ operation, method, url }: OutboundCall): Attributes {
  const { hostname, port, protocol } = URL.parse(url) ?? {};
  const usualPort = protocol === 'http:' ? 80 : 443;
  return {
    'gatehouse.call.operation': operation,
    'http.request.method': method,
    ...(hostname !== undefined && { 'server.address': withoutBrackets(hostname) }),
    ...(port !== undefined && { 'server.port': port === '' ? usualPort : Number(port) }),
  };
}

/** URLs have IPv6 addresses in brackets. */
function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/**
 * Attack: the metadata document of a client is at any server that a stranger names, who would learn ids of traces.
 * Decision D-213.
 */
function traceFields(kind: OutboundKind): Fields {
  const fields: Record<string, string> = {};
  if (kind !== 'client-metadata') injectTrace(fields);
  return fields;
}

/** Returns what became of a call that got no response. */
export function outcomeOf(error: unknown): string {
  if (error instanceof OutboundRefusedError) return `refused-${error.kind}`;
  if (error instanceof OutboundFailedError) return `failed-${error.kind}`;
  return 'failed';
}
