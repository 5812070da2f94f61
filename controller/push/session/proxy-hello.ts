import type { IncomingHttpHeaders } from 'node:http2';

import { PUSH_PATH, PUSH_PROTOCOL } from '../../../shared/snapshot/push-frames.ts';
import {
  parsePosition,
  type SnapshotPosition,
} from '../../../shared/snapshot/snapshot-position.ts';

/** The claims of a proxy that opens a stream. None of them is verified. */
export interface ProxyHello {
  readonly token: string;
  readonly proxyId: string;
  /** The snapshot it serves; undefined if it serves none. */
  readonly have: { readonly position: SnapshotPosition; readonly version: string } | undefined;
  readonly routes: number;
  /** Whether frames for it may name their trace. */
  readonly acceptsTrace: boolean;
}

/** A request that cannot open a stream. */
export class InvalidHelloError extends Error {
  override readonly name = 'InvalidHelloError';
  readonly status: 400 | 401 | 404 | 405;
  readonly reason: string;

  constructor(status: InvalidHelloError['status'], reason: string) {
    super(`request refused: ${reason}`);
    this.status = status;
    this.reason = reason;
  }
}

/** The name of a pod (RFC 1123 subdomain). */
const PROXY_ID = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const BEARER = /^Bearer ([\w.~+/=-]{1,8192})$/i;
const HAVE = /^([\d.]{1,31}):([0-9a-f]{64})$/;
const ROUTES = /^\d{1,9}$/;

/** Parses the header of a request. Throws `InvalidHelloError` if it cannot open a stream. */
export function parseHello(headers: IncomingHttpHeaders): ProxyHello {
  if (headers[':path'] !== PUSH_PATH) throw new InvalidHelloError(404, 'not-found');
  if (headers[':method'] !== 'POST') throw new InvalidHelloError(405, 'method-not-allowed');
  if (headers['x-proto'] !== PUSH_PROTOCOL) throw new InvalidHelloError(400, 'unknown-protocol');
  const token = BEARER.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) throw new InvalidHelloError(401, 'no-token');
  const proxyId = headers['x-proxy-id'];
  if (typeof proxyId !== 'string' || !PROXY_ID.test(proxyId)) {
    throw new InvalidHelloError(400, 'invalid-proxy-id');
  }
  const have = headers['x-have'];
  return {
    token,
    proxyId,
    have: have === undefined ? undefined : parseHave(have),
    routes: parseRoutes(headers['x-routes'] ?? '0'),
    acceptsTrace: headers['x-accepts'] === 'trace',
  };
}

function parseHave(header: string | string[]): ProxyHello['have'] {
  const [, place, version] = typeof header === 'string' ? (HAVE.exec(header) ?? []) : [];
  const position = parsePosition(place ?? '');
  if (position === undefined || version === undefined) throw invalidSnapshot();
  return { position, version };
}

function parseRoutes(header: string | string[]): number {
  if (typeof header !== 'string' || !ROUTES.test(header)) throw invalidSnapshot();
  return Number(header);
}

function invalidSnapshot(): InvalidHelloError {
  return new InvalidHelloError(400, 'invalid-snapshot');
}
