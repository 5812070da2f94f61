import type { Span } from '../../../shared/telemetry/tracing/trace.ts';

/** Ports that URLs leave out. */
const USUAL_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

interface Server {
  readonly host: string;
  /** Absent if it is the one of the scheme. */
  readonly port: number | undefined;
}

/** Beyond it, the servers are forgotten: clients choose the names of unknown hosts. */
const MAX_KNOWN = 256;
/** Longer names are not remembered: no name of DNS with a port is. */
const MAX_LENGTH = 260;

/** Servers by `host[:port]`. Most requests name one of few, and finding it costs less than reading its name. */
const known = new Map<string, Server>();

/**
 * Adds the name or address of a server to a span, and its port, from `host[:port]`. IPv6 addresses have no
 * brackets. Without a port there, that of the scheme, `http` or `https`, is added, if it is known.
 */
export function setServer(span: Span, authority: string, scheme: string | undefined): void {
  const { host, port = USUAL_PORTS[scheme ?? ''] } = known.get(authority) ?? readServer(authority);
  span.add('server.address', host);
  if (port !== undefined) span.add('server.port', port);
}

function readServer(authority: string): Server {
  const colon = authority.lastIndexOf(':');
  const hasPort = colon !== -1 && !authority.endsWith(']');
  const name = hasPort ? authority.slice(0, colon) : authority;
  const host = name.startsWith('[') ? name.slice(1, -1) : name;
  const server = { host, port: hasPort ? Number(authority.slice(colon + 1)) : undefined };
  if (authority.length > MAX_LENGTH) return server;
  if (known.size === MAX_KNOWN) known.clear();
  known.set(authority, server);
  return server;
}
