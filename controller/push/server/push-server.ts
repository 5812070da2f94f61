import { once } from 'node:events';
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';

import { monotonicClock, type Clock } from '../../../shared/runtime/clock.ts';
import type { LogFields, Logger } from '../../../shared/telemetry/logger.ts';
import { NO_LEADER } from '../../../shared/snapshot/push-frames.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import type { Leadership } from '../../leader/leadership.ts';
import type { PushMetrics } from '../../telemetry/push-metrics.ts';
import type { AuthenticateProxy } from './authenticate-proxy.ts';
import { ConnectionGuard } from './connection-guard.ts';
import { LeadershipPublication } from '../leadership-publication.ts';
import { LogLimit } from '../log-limit.ts';
import { InvalidHelloError, parseHello, type ProxyHello } from '../session/proxy-hello.ts';
import type { OnPublicationChange, OnPublished, Publication } from '../publication.ts';
import { PUSH_TIMING, type PushTiming } from '../push-timing.ts';
import {
  CertificateWatch,
  readCertificate,
  reportExpiry,
  type ServerCertificate,
} from './server-certificate.ts';

const MAX_CONNECTIONS = 2048;
const MAX_STREAMS_ON_A_CONNECTION = 4;
const MAX_PROXIES = 1024;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_HEADER_PAIRS = 32;
const HANDSHAKE_MS = 5000;
/** How often the refusal of one proxy is logged: it retries every two seconds. */
const REFUSAL_LOG_MS = 60_000;
const TLS = { minVersion: 'TLSv1.2' } as const;

/** Options of a push server. */
export interface PushServerOptions {
  /** Port 0: any free port. */
  readonly listen: { readonly host?: string; readonly port: number };
  /** Directory with `tls.crt` and `tls.key`, which may be replaced at any time. */
  readonly tlsDirectory: string;
  readonly authenticate: AuthenticateProxy;
  /** `host:port` of the leader, for proxies that connect to this controller. */
  readonly leaderAddress: () => string | undefined;
  readonly logger: Logger;
  readonly metrics: PushMetrics;
  /** Traces deliveries; absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly timing?: Partial<PushTiming>;
  readonly clock?: Clock;
}

/** Starts a push server. Rejects if it cannot listen or its certificate cannot be used. */
export async function startPushServer(options: PushServerOptions): Promise<PushServer> {
  const certificate = await readCertificate(options.tlsDirectory);
  const timing = { ...PUSH_TIMING, ...options.timing };
  const server = createServer(certificate);
  server.listen(options.listen);
  await once(server, 'listening');
  const { logger, metrics } = options;
  reportExpiry(certificate, { logger, metrics });
  const watch = new CertificateWatch({
    directory: options.tlsDirectory,
    certificate,
    pollMs: timing.certificatePollMs,
    onChange: (changed) => {
      server.setSecureContext({ ...TLS, ...changed });
      logger.info('certificate of the push listener replaced');
      reportExpiry(changed, { logger, metrics });
    },
    logger,
  });
  const { clock = monotonicClock } = options;
  return new PushServer({ ...options, timing, clock, server, watch });
}

function createServer(certificate: ServerCertificate): Http2SecureServer {
  const server = createSecureServer({
    ...TLS,
    ...certificate,
    allowHTTP1: false,
    handshakeTimeout: HANDSHAKE_MS,
    unknownProtocolTimeout: HANDSHAKE_MS,
    maxHeaderListPairs: MAX_HEADER_PAIRS,
    settings: {
      enablePush: false,
      maxConcurrentStreams: MAX_STREAMS_ON_A_CONNECTION,
      maxHeaderListSize: MAX_HEADER_BYTES,
    },
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** The server that sends snapshots to proxies. Every controller has one; only the leader publishes. */
export class PushServer {
  readonly #server: Http2SecureServer;
  readonly #watch: CertificateWatch;
  readonly #options: PushServerOptions & { readonly timing: PushTiming; readonly clock: Clock };
  readonly #guard: ConnectionGuard;
  readonly #sessions = new Set<Http2Session>();
  readonly #refusalLog: LogLimit;
  #streams = 0;
  #publication: LeadershipPublication | undefined;

  constructor({
    server,
    watch,
    ...options
  }: PushServerOptions & {
    readonly timing: PushTiming;
    readonly clock: Clock;
    readonly server: Http2SecureServer;
    readonly watch: CertificateWatch;
  }) {
    this.#server = server;
    this.#watch = watch;
    this.#options = options;
    this.#guard = new ConnectionGuard(options.timing, options.clock);
    this.#refusalLog = new LogLimit(REFUSAL_LOG_MS, () => options.clock.now());
    server.on('connection', (socket: Socket) => this.#guard.connected(socket));
    server.on('session', (session: Http2Session) => this.#opened(session));
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      // Every error is followed by `close`.
      stream.on('error', () => undefined);
      this.#admit(stream, headers).catch((error: unknown) => this.#fail(stream, error));
    });
  }

  /** The address that it listens on. */
  get address(): AddressInfo {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('not a TCP address');
    return address;
  }

  /** What this controller publishes; undefined if it does not lead. */
  get publication(): Publication | undefined {
    return this.#openPublication();
  }

  /**
   * Publishes until the leadership is over, or the publication is disposed of. There is one
   * publication at a time: this ends the previous one.
   */
  startPublication(
    leadership: Leadership,
    observer: { readonly onChange: OnPublicationChange; readonly onPublished: OnPublished },
  ): Publication & AsyncDisposable {
    const { logger, metrics, tracer, timing, clock } = this.#options;
    const before = this.#publication;
    this.#publication = new LeadershipPublication({
      ...observer,
      ...{ leadership, timing, clock, logger, metrics, tracer },
    });
    before?.[Symbol.asyncDispose]().catch((error: unknown) => {
      logger.error('cannot end the publication', {}, error);
    });
    return this.#publication;
  }

  /** Asks the proxies to disconnect, and stops listening. */
  async close(): Promise<void> {
    this.#watch.close();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await this.#publication?.[Symbol.asyncDispose]();
    for (const session of this.#sessions) session.destroy();
    await closed;
  }

  #opened(session: Http2Session): void {
    this.#sessions.add(session);
    session.once('close', () => this.#sessions.delete(session));
    this.#guard.opened(session);
  }

  /** Authenticates the proxy before the body is read. */
  async #admit(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const hello = parseHello(headers);
    if (this.#openPublication() === undefined) {
      this.#refuseAsFollower(stream);
      return;
    }
    const { token, proxyId } = hello;
    const address = stream.session?.socket.remoteAddress ?? '';
    const authentication = await this.#options.authenticate({ token, proxyId, address });
    if (authentication.kind === 'refused') {
      this.#reportRefusal(proxyId, authentication);
      this.#refuse(stream, authentication);
      return;
    }
    this.#accept(stream, hello);
  }

  #accept(stream: ServerHttp2Stream, hello: ProxyHello): void {
    const { session } = stream;
    if (stream.destroyed || session === undefined) return;
    const publication = this.#openPublication();
    if (publication === undefined) {
      this.#refuseAsFollower(stream);
      return;
    }
    if (this.#streams >= MAX_PROXIES) {
      const refused = { status: 503, reason: 'too-many-proxies' };
      this.#reportRefusal(hello.proxyId, refused);
      this.#refuse(stream, refused);
      return;
    }
    this.#streams += 1;
    this.#guard.streamOpened(session);
    stream.once('close', () => {
      this.#streams -= 1;
      this.#guard.streamClosed(session);
    });
    stream.respond({ ':status': 200, 'content-type': 'application/x-ndjson' });
    publication.connect(stream, hello);
  }

  #fail(stream: ServerHttp2Stream, error: unknown): void {
    if (error instanceof InvalidHelloError) {
      this.#options.metrics.refused(error.reason);
      this.#refuse(stream, error);
      return;
    }
    this.#options.logger.error('cannot open a push stream', {}, error);
    this.#refuse(stream, { status: 500 });
  }

  #reportRefusal(
    proxy: string,
    { reason, detail }: { readonly reason: string; readonly detail?: LogFields },
  ): void {
    this.#options.metrics.refused(reason);
    if (!this.#refusalLog.admits(`${proxy} ${reason}`)) return;
    this.#options.logger.warn('push stream refused', { proxy, reason, ...detail });
  }

  #openPublication(): LeadershipPublication | undefined {
    return this.#publication?.isOpen === true ? this.#publication : undefined;
  }

  #refuseAsFollower(stream: ServerHttp2Stream): void {
    this.#options.metrics.refused('not-leading');
    const leader = this.#options.leaderAddress();
    if (leader === undefined) this.#refuse(stream, { status: 503, reason: NO_LEADER });
    else this.#refuse(stream, { status: 503, leader });
  }

  #refuse(
    stream: ServerHttp2Stream,
    {
      status,
      reason,
      leader,
    }: { readonly status: number; readonly reason?: string; readonly leader?: string },
  ): void {
    const headers = {
      ...(reason !== undefined && { 'x-reason': reason }),
      ...(leader !== undefined && { 'x-leader': leader }),
    };
    // A reset would overtake the response. The rest of the body ends with the connection.
    if (!stream.destroyed && !stream.headersSent) {
      stream.respond({ ...headers, ':status': status }, { endStream: true });
    }
    if (stream.session !== undefined) this.#guard.refuse(stream.session);
  }
}
