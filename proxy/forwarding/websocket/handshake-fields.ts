import type { IncomingHttpHeaders } from 'node:http';

import type { UpstreamRequest } from '../request/upstream-request.ts';
import { responseHeaders, type RawFields } from '../response/response-headers.ts';
import { SWITCHING_PROTOCOLS } from '../response/response-status.ts';

/** Returns the header fields of the handshake for the upstream, by name. */
export function handshakeFields({ origin, headers }: UpstreamRequest): IncomingHttpHeaders {
  return byName([
    ...headers,
    ...['host', new URL(origin).host, 'connection', 'Upgrade', 'upgrade', 'websocket'],
  ]);
}

/** Returns the header fields of the 101 for the client, by name. */
export function switchingFields(
  rawHeaders: RawFields,
  { passResponseHeaders: passed }: UpstreamRequest,
): IncomingHttpHeaders {
  const framing = { status: SWITCHING_PROTOCOLS, hasNoBody: true, canChunk: false, passed };
  const { fields } = responseHeaders(rawHeaders, framing);
  return byName([...fields, 'Connection', 'Upgrade', 'Upgrade', 'websocket']);
}

/** Converts a flat list to an object. The values of a repeated field are under its first spelling. */
function byName(fields: readonly string[]): Record<string, string | string[]> {
  const headers = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    const lower = name.toLowerCase();
    // http-proxy copies fields by assignment, which makes a prototype of this one.
    if (lower === '__proto__') continue;
    const header = headers.get(lower) ?? { name, values: [] };
    headers.set(lower, header);
    header.values.push(fields[index + 1] ?? '');
  }
  return Object.fromEntries(
    [...headers.values()].map(({ name, values }) => [
      name,
      values.length === 1 ? (values[0] ?? '') : values,
    ]),
  );
}
