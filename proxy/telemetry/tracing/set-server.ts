import type { Span } from '../../../shared/telemetry/tracing/trace.ts';

/** Sets the name or address of a server on a span, from `host[:port]`. IPv6 addresses keep their brackets. */
export function setServer(span: Span, authority: string): void {
  const colon = authority.lastIndexOf(':');
  if (colon === -1 || authority.endsWith(']')) {
    span.set('server.address', authority);
    return;
  }
  span.set('server.address', authority.slice(0, colon));
  span.set('server.port', Number(authority.slice(colon + 1)));
}
