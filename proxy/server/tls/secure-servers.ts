import { constants } from 'node:crypto';
import { createServer, type Server, type TLSSocket } from 'node:tls';

import type { CompiledCertificate } from '../../../shared/snapshot/snapshot.ts';
import { BoundedMap } from '../../cache/bounded-map.ts';

/** Handles the ends of handshakes. */
export interface HandshakeHandlers {
  readonly onSecure: (socket: TLSSocket) => void;
  readonly onFailure: (error: NodeJS.ErrnoException) => void;
}

/** Options of a `SecureServers`. */
interface SecureServersOptions extends HandshakeHandlers {
  /** Application protocols (ALPN), the preferred first. */
  readonly protocols: readonly string[];
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

interface Entry {
  readonly server: Server;
  readonly madeAt: number;
}

/** Some 35 KiB each. Another certificate takes the place of the one that was made longest ago. */
const MAX_SERVERS = 1_000;

/**
 * A server has random keys for session tickets, and with them the secrets of its TLS 1.2 sessions can be
 * computed (RFC 8446, appendix E.6). So they are used for an hour.
 */
const MAX_AGE_MS = 60 * 60 * 1_000;

/**
 * The TLS of each certificate: made when the first client asks for it, since thousands at once would delay
 * every request, and again when it has changed. Connections keep the one that they began with.
 *
 * Each has its own keys for session tickets, so that a session is resumed at the same certificate of the same
 * process only.
 */
export class SecureServers {
  readonly #options: SecureServersOptions;
  readonly #entries = new BoundedMap<string, Entry>(MAX_SERVERS);
  /** Number of each certificate, which tells it from another of the same name. */
  readonly #numbers = new WeakMap<CompiledCertificate, number>();
  #lastNumber = 0;

  constructor(options: SecureServersOptions) {
    this.#options = options;
  }

  /**
   * Returns the server that does handshakes with these certificates, which have keys of different types. It
   * listens nowhere: connections are handed to it by its event `connection`. Throws if a certificate cannot
   * be used.
   *
   * Attack: hosts may share their first certificate and differ in another. If one took the place of the other, a
   * client that asks for both in turn would have a server made for each handshake.
   */
  serverFor(certificates: readonly [CompiledCertificate, ...CompiledCertificate[]]): Server {
    const key = certificates.map((each) => this.#numberOf(each)).join(' ');
    const now = this.#options.now();
    const known = this.#entries.get(key);
    if (known !== undefined && now - known.madeAt < MAX_AGE_MS) return known.server;
    // Old ones hold old keys.
    this.#entries.deleteWhere(({ madeAt }) => now - madeAt >= MAX_AGE_MS);
    const server = this.#make(certificates);
    this.#entries.set(key, { server, madeAt: now });
    return server;
  }

  #numberOf(certificate: CompiledCertificate): number {
    const known = this.#numbers.get(certificate);
    if (known !== undefined) return known;
    this.#lastNumber += 1;
    this.#numbers.set(certificate, this.#lastNumber);
    return this.#lastNumber;
  }

  #make(certificates: readonly CompiledCertificate[]): Server {
    const { protocols, onSecure, onFailure } = this.#options;
    const server = createServer({
      ...TLS_OPTIONS,
      ALPNProtocols: [...protocols],
      cert: certificates.map(({ certificate }) => certificate),
      key: certificates.map(({ privateKey }) => privateKey),
    });
    server.on('secureConnection', onSecure);
    server.on('tlsClientError', onFailure);
    return server;
  }
}

/** Of TLS 1.2 only suites with forward secrecy and authenticated encryption (RFC 9325, section 4.2). */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

const TLS_OPTIONS = {
  // Whatever options the process was started with.
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  ciphers: CIPHERS.join(':'),
  // All are good, and clients know what their processor does fast.
  honorCipherOrder: false,
  // Attack: renegotiation costs a client little and the server a lot; TLS 1.3 has none.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_COMPRESSION,
  requestCert: false,
} as const;
