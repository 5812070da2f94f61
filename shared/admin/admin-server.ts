import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

import { errorCode } from '../runtime/error-code.ts';
import type { ListenAddress } from '../runtime/listen-address.ts';
import { formatPosition, type SnapshotPosition } from '../snapshot/snapshot-position.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { formatMetrics } from '../telemetry/metrics/format-metrics.ts';
import { METRICS_CONTENT_TYPES, metricsFormatFor } from '../telemetry/metrics/metrics-format.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { MetricsRegistry } from '../telemetry/metrics/metrics-registry.ts';
import { EventLoopLag } from './event-loop-lag.ts';

/** State of the process that the admin server reports. */
export interface AdminSources {
  /** Whether a snapshot is applied, every port listens, and the process is not ending. */
  isReady(): boolean;
  /** Returns why the process is not ready, if that is known. */
  whyNotReady?(): string | undefined;
  /** Returns the snapshot that serves; undefined before the first. */
  snapshot(): Snapshot | undefined;
  /** Returns the position of that snapshot; undefined if it was not published by a controller. */
  position?(): SnapshotPosition | undefined;
}

/** A running admin server. */
export interface AdminServer {
  readonly address: ListenAddress;
  close(): Promise<void>;
}

const SECOND = 1_000;

/** Lag of the event loop from which the process counts as stuck. */
const MAX_LAG_MS = 5 * SECOND;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** What the admin server reports besides its sources. */
export interface AdminOptions {
  readonly metrics: Pick<MetricsRegistry, 'families'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly eventLoop?: EventLoopLag;
}

/**
 * Serves the admin port: `/livez`, `/readyz`, `/metrics` and `/debug/snapshot`. It must not be reachable
 * from outside.
 *
 * The process is alive while its event loop lags by less than five seconds, whether or not it is
 * ready.
 *
 * The snapshot is reported as keys and hashes only, because its values hold secrets.
 */
export async function startAdminServer(
  listen: ListenAddress,
  sources: AdminSources,
  { metrics, logger, eventLoop = new EventLoopLag() }: AdminOptions,
): Promise<AdminServer> {
  const server = createServer((request, response) => {
    if (pathOf(request) === '/metrics' && isRead(request))
      sendMetrics(request, response, { metrics, logger });
    else send(response, answer(request, sources, eventLoop));
  });
  const { promise: isListening, resolve, reject } = Promise.withResolvers<undefined>();
  server.once('error', (error) => {
    eventLoop[Symbol.dispose]();
    reject(error);
  });
  server.listen(listen.port, listen.host, () => resolve(undefined));
  await isListening;
  return {
    address: boundAddress(server.address()),
    close: async () => {
      const { promise, resolve: onClosed } = Promise.withResolvers<undefined>();
      server.close(() => onClosed(undefined));
      server.closeAllConnections();
      eventLoop[Symbol.dispose]();
      await promise;
    },
  };
}

function answer(request: IncomingMessage, sources: AdminSources, { lagMs }: EventLoopLag): Answer {
  if (!isRead(request)) return { status: 405, body: { error: 'method_not_allowed' } };
  switch (pathOf(request)) {
    case '/livez':
      return lagMs <= MAX_LAG_MS
        ? { status: 200, body: { status: 'alive' } }
        : { status: 503, body: { status: 'stuck', reason: lateness(lagMs) } };
    case '/readyz':
      return sources.isReady()
        ? { status: 200, body: { status: 'ready' } }
        : { status: 503, body: { status: 'not ready', reason: sources.whyNotReady?.() } };
    case '/debug/snapshot':
      return { status: 200, body: outline(sources.snapshot(), sources.position?.()) };
    default:
      return { status: 404, body: { error: 'not_found' } };
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.replace(/\?.*$/, '');
}

function lateness(lagMs: number): string {
  return `the event loop was ${String(Math.round(lagMs / SECOND))} s late`;
}

function outline(snapshot: Snapshot | undefined, position: SnapshotPosition | undefined): unknown {
  const at = position === undefined ? {} : { position: formatPosition(position) };
  if (snapshot === undefined) return { version: null, ...at, resources: [] };
  const resources = [...snapshot.resources.values()].map(({ key, hash }) => ({ key, hash }));
  return { version: snapshot.version, ...at, resources };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
    'content-type': 'application/json',
  });
  response.end(text);
}

/** The text is made while it is read, so a slow reader holds little of it in memory. */
function sendMetrics(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  { metrics, logger }: Pick<AdminOptions, 'metrics' | 'logger'>,
): void {
  const format = metricsFormatFor(headers.accept);
  response.writeHead(200, {
    'cache-control': 'no-store',
    'content-type': METRICS_CONTENT_TYPES[format],
    vary: 'accept',
  });
  if (method === 'HEAD') {
    response.end();
    return;
  }
  pipeline(formatMetrics(metrics.families, format), response).catch((error: unknown) => {
    // The response ends without its last chunk, so nobody takes a part for the whole.
    response.destroy();
    if (errorCode(error) === 'ERR_STREAM_PREMATURE_CLOSE') return;
    logger.warn('metrics could not be sent', {}, error);
  });
}

function boundAddress(address: AddressInfo | string | null): AdminServer['address'] {
  if (typeof address !== 'object' || address === null) throw new Error('not a TCP address');
  return { host: address.address, port: address.port };
}
