import type { IncomingHttpHeaders } from 'node:http2';

import { PUSH_PATH, PUSH_PROTOCOL } from '../../../shared/snapshot/push-frames.ts';
import {
  parsePosition,
  type SnapshotPosition,
} from '../../../shared/snapshot/snapshot-position.ts';

/** What a proxy says when it opens a stream. Nothing of it is proved. */
export interface ProxyHello {
  readonly token: string;
  readonly proxyId: string;
  /** The snapshot it serves; undefined: none. */
  readonly have: { readonly position: SnapshotPosition; readonly version: string } | undefined;
  readonly routes: number;
}

/** A request that opens no stream. */
export interface RefusedHello {
  readonly status: 400 | 401 | 404 | 405;
  readonly reason: string;
}

/** The name of a pod (RFC 1123 subdomain). */
const PROXY_ID = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const BEARER = /^Bearer ([\w.~+/=-]{1,8192})$/i;
const HAVE = /^([\d.]{1,31}):([0-9a-f]{64})$/;
const ROUTES = /^\d{1,9}$/;

/** Reads the header of a request. */
export function parseHello(headers: IncomingHttpHeaders): ProxyHello | RefusedHello {
  if (headers[':path'] !== PUSH_PATH) return { status: 404, reason: 'not-found' };
  if (headers[':method'] !== 'POST') return { status: 405, reason: 'method-not-allowed' };
  if (headers['x-proto'] !== PUSH_PROTOCOL) return { status: 400, reason: 'unknown-protocol' };
  const token = BEARER.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) return { status: 401, reason: 'no-token' };
  const proxyId = headers['x-proxy-id'];
  if (typeof proxyId !== 'string' || !PROXY_ID.test(proxyId)) {
    return { status: 400, reason: 'invalid-proxy-id' };
  }
  const have = parseHave(headers['x-have']);
  const routes = parseRoutes(headers['x-routes']);
  if (have === null || routes === null) return { status: 400, reason: 'invalid-snapshot' };
  return { token, proxyId, have, routes };
}

/** null: it makes no sense. */
function parseHave(header: string | string[] | undefined): ProxyHello['have'] | null {
  if (header === undefined) return undefined;
  const [, place, version] = typeof header === 'string' ? (HAVE.exec(header) ?? []) : [];
  const position = parsePosition(place ?? '');
  return position === undefined || version === undefined ? null : { position, version };
}

function parseRoutes(header: string | string[] | undefined): number | null {
  if (header === undefined) return 0;
  return typeof header === 'string' && ROUTES.test(header) ? Number(header) : null;
}
