/** A socket address to listen on; port 0 is any free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** Whether TLS ends here; if absent, it does not. */
  readonly isTls?: boolean;
}

/** Formats an address as `host:port`, IPv6 in brackets. */
export function formatAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}
