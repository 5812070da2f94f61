import type { Span } from '../../../shared/telemetry/tracing/trace.ts';

/** The methods of RFC 9110 and RFC 5789, which OpenTelemetry's conventions for HTTP know. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'],
]);

/** Adds the method of a request to a span. */
export function setMethod(span: Span, method: string): void {
  if (KNOWN.has(method)) {
    span.add('http.request.method', method);
    return;
  }
  span.add('http.request.method', '_OTHER');
  span.add('http.request.method_original', method);
}

/** Returns the method as names of spans have it: `HTTP` for any that is not known. */
export function nameOfMethod(method: string): string {
  return KNOWN.has(method) ? method : 'HTTP';
}
