import type { IncomingHttpHeaders } from 'node:http';

/** Bounds of the time for which a response is reused. */
export interface FreshnessBounds {
  readonly minSeconds: number;
  readonly maxSeconds: number;
  /** Used if the response does not specify a time. */
  readonly defaultSeconds: number;
}

const SECOND = 1000;

/**
 * Returns for how many seconds a response may be reused, within bounds; 0 if it must not be cached.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9111#section-4.2 RFC 9111, section 4.2}
 */
export function freshSeconds(
  headers: IncomingHttpHeaders,
  { minSeconds, maxSeconds, defaultSeconds }: FreshnessBounds,
  now: number,
): number {
  const directives = parseCacheControl(headers['cache-control'] ?? '');
  if (directives.has('no-store')) return 0;
  const lifetime = lifetimeSeconds(headers, directives, now);
  if (lifetime === undefined) return defaultSeconds;
  const left = lifetime - (seconds(headers.age) ?? 0);
  return Math.min(Math.max(left, minSeconds), maxSeconds);
}

function lifetimeSeconds(
  headers: IncomingHttpHeaders,
  directives: ReadonlyMap<string, string>,
  now: number,
): number | undefined {
  if (directives.has('no-cache')) return 0;
  const maxAge = directives.get('s-maxage') ?? directives.get('max-age');
  // RFC 9111, section 4.2.1: a time that cannot be parsed makes the response stale.
  if (maxAge !== undefined) return seconds(maxAge) ?? 0;
  if (headers.expires === undefined) return undefined;
  const expires = Date.parse(headers.expires);
  if (Number.isNaN(expires)) return 0;
  const date = Date.parse(headers.date ?? '');
  return (expires - (Number.isNaN(date) ? now : date)) / SECOND;
}

function parseCacheControl(text: string): ReadonlyMap<string, string> {
  const directives = new Map<string, string>();
  for (const part of text.split(',')) {
    const [name = '', value = ''] = part.split('=', 2).map((word) => word.trim());
    if (!directives.has(name.toLowerCase())) {
      directives.set(name.toLowerCase(), value.replace(/^"|"$/g, ''));
    }
  }
  return directives;
}

function seconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
