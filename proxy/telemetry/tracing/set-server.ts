import type { Span } from '../../../shared/telemetry/tracing/trace.ts';

/** Ports that URLs leave out. */
const USUAL_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/**
 * Sets the name or address of a server on a span, and its port, from `host[:port]`. IPv6 addresses have no
 * brackets. Without a port there, that of the scheme, `http` or `https`, is set, if it is known.
 */
export function setServer(span: Span, authority: string, scheme: string | undefined): void {
  const colon = authority.lastIndexOf(':');
  const hasPort = colon !== -1 && !authority.endsWith(']');
  const host = hasPort ? authority.slice(0, colon) : authority;
  span.set('server.address', host.startsWith('[') ? host.slice(1, -1) : host);
  const port = hasPort ? Number(authority.slice(colon + 1)) : USUAL_PORTS[scheme ?? ''];
  if (port !== undefined) span.set('server.port', port);
}
