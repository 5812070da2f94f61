import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { TLSSocket } from 'node:tls';

import type { CompiledCertificate } from '../../../shared/snapshot/snapshot.ts';
import { leafCertificate } from '../../crypto/leaf-certificate.ts';
import type { ConnectionFacts } from '../../http/connection-facts.ts';
import type { HandshakeOutcome } from '../../http/handshake-outcome.ts';
import type { ListenerHandlers } from '../../http/listener-handlers.ts';
import { endWithResponse } from '../../http/raw-response.ts';
import { readFirstBytes } from '../first-bytes.ts';
import { DECODE_ERROR, INTERNAL_ERROR, UNRECOGNIZED_NAME } from './alerts.ts';
import { beginningOf } from './beginning-of.ts';
import { outcomeOfError } from './outcome-of-error.ts';
import { PresentedCertificate } from './presented-certificate.ts';
import { SecureServers } from './secure-servers.ts';

/** Options of `Handshakes`. */
interface HandshakesOptions {
  readonly handlers: ListenerHandlers;
  /** How long a client may take for its handshake. */
  readonly handshakeMs: number;
  /** Application protocols (ALPN), the preferred first. */
  readonly protocols: readonly string[];
}

/** A handshake that is not over. */
interface Handshake {
  readonly address: string;
  readonly certificates: readonly [CompiledCertificate, ...CompiledCertificate[]];
  readonly onSecure: (socket: TLSSocket) => void;
  readonly timer: NodeJS.Timeout;
}

/** Makes the TLS of accepted connections. */
export class Handshakes {
  readonly #options: HandshakesOptions;
  readonly #servers: SecureServers;
  /** By the addresses and ports of both ends: an encrypted socket does not name the one below it. */
  readonly #current = new Map<string, Handshake>();
  /** Handshakes that took too long, and whose end Node has not reported yet. */
  #expired = 0;

  constructor(options: HandshakesOptions) {
    this.#options = options;
    this.#servers = new SecureServers({
      protocols: options.protocols,
      onSecure: (socket) => this.#complete(socket),
      onFailure: (error) => this.#fail(error),
      now: () => performance.now(),
    });
  }

  /** Waits for the ClientHello of a connection of this address, and calls back when TLS is made. */
  begin(socket: Socket, address: string, onSecure: (socket: TLSSocket) => void): void {
    let isReading = true;
    // A client that resets the connection. The event comes before anything else listens, and ends it anyway.
    socket.on('error', () => undefined);
    const timer = setTimeout(() => {
      if (socket.bytesRead > 0) this.#count('timeout');
      if (!isReading) this.#expired += 1;
      socket.destroy();
    }, this.#options.handshakeMs);
    socket.once('close', () => clearTimeout(timer));
    readFirstBytes(socket, beginningOf, (beginning) => {
      isReading = false;
      if (beginning === undefined) {
        // Health checks connect and say nothing.
        if (socket.bytesRead > 0 && !socket.destroyed) this.#count('client-left');
        socket.destroy();
      } else if (beginning.kind === 'tls') {
        const { serverName } = beginning.hello;
        this.#choose(socket, serverName, { address, onSecure, timer });
      } else {
        clearTimeout(timer);
        this.#refuse(socket, address, beginning.kind);
      }
    });
  }

  #choose(
    socket: Socket,
    serverName: string | undefined,
    handshake: Omit<Handshake, 'certificates'>,
  ): void {
    const [first, ...others] = this.#options.handlers.certificatesFor?.(serverName) ?? [];
    if (first === undefined) {
      clearTimeout(handshake.timer);
      this.#count('unrecognized-name');
      socket.end(UNRECOGNIZED_NAME, () => socket.destroy());
      return;
    }
    this.#hand(socket, { ...handshake, certificates: [first, ...others] });
  }

  /** Hands the connection to OpenSSL, with the bytes that were read. */
  #hand(socket: Socket, handshake: Handshake): void {
    try {
      const server = this.#servers.serverFor(handshake.certificates);
      const key = endsOf(socket);
      this.#current.set(key, handshake);
      socket.once('close', () => this.#current.delete(key));
      server.emit('connection', socket);
    } catch {
      clearTimeout(handshake.timer);
      this.#count('unusable-certificate');
      socket.end(INTERNAL_ERROR, () => socket.destroy());
    }
  }

  #complete(socket: TLSSocket): void {
    const key = endsOf(socket);
    const handshake = this.#current.get(key);
    this.#current.delete(key);
    // The client has left.
    if (handshake === undefined) {
      socket.destroy();
      return;
    }
    clearTimeout(handshake.timer);
    this.#count('completed');
    const { address, certificates } = handshake;
    const facts: ConnectionFacts = {
      remoteAddress: address,
      certificate: new PresentedCertificate(presentedLeaves(socket, certificates)),
    };
    for (const [name, value] of Object.entries(facts))
      Object.defineProperty(socket, name, { value });
    handshake.onSecure(socket);
  }

  #fail(error: NodeJS.ErrnoException): void {
    const outcome = outcomeOfError(error);
    if (outcome === 'client-left' && this.#expired > 0) this.#expired -= 1;
    else this.#count(outcome);
  }

  #refuse(socket: Socket, address: string, kind: 'plain-http' | 'malformed'): void {
    this.#count(kind);
    if (kind === 'malformed') {
      socket.end(DECODE_ERROR, () => socket.destroy());
      return;
    }
    endWithResponse(socket, PLAIN_HTTP);
    this.#options.handlers.refused?.(address, PLAIN_HTTP.status);
  }

  #count(outcome: HandshakeOutcome): void {
    this.#options.handlers.handshake?.(outcome);
  }
}

const PLAIN_HTTP = {
  status: 400,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: JSON.stringify({
    error: 'plain-http',
    message: 'this port serves HTTPS, and the request was sent without TLS',
  }),
} as const;

/**
 * Attack: from one port, a client reaches each address of this machine; one connection would get the certificate
 * and the client of another.
 */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}

/**
 * Returns the certificate that a client got, or all that it may have got: for a session that is resumed, OpenSSL
 * does not tell which of the two was in the handshake that began it.
 */
function presentedLeaves(
  socket: TLSSocket,
  certificates: Handshake['certificates'],
): readonly X509Certificate[] {
  const presented =
    certificates.length === 1 || socket.isSessionReused() ? undefined : socket.getX509Certificate();
  return presented === undefined ? certificates.map(leafCertificate) : [presented];
}
