declare const isParsedOrigin: unique symbol;

/**
 * Scheme, host and port, as browsers write them: no path, and no port that is the default of the
 * scheme. The origin of a wildcard host keeps its `*`.
 */
export type Origin = string & { readonly [isParsedOrigin]: true };

/** Port that an origin of this scheme leaves out. */
export const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** Regular expression (with the flag `u`) that every origin matches. */
export const ORIGIN_PATTERN = '^https?://[^/?#@\\s]+$';

const ORIGIN = new RegExp(ORIGIN_PATTERN, 'u');

/** Returns the origin of a public address. */
export function originOf({ scheme, host, port }: OriginParts): Origin {
  const authority = port === DEFAULT_PORTS[scheme] ? host : `${host}:${String(port)}`;
  // The one place that makes the brand.
  return `${scheme}://${authority}` as Origin;
}

/** Whether a member of a sealed record can be an origin that `originOf` made. */
export function isOrigin(value: unknown): value is Origin {
  return typeof value === 'string' && ORIGIN.test(value);
}

interface OriginParts {
  readonly scheme: 'http' | 'https';
  /** Lower case. */
  readonly host: string;
  readonly port: number;
}
