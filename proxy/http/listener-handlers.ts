import type { Duplex } from 'node:stream';

import type { CompiledCertificate } from '../../shared/snapshot/snapshot.ts';
import type { ClientResponse } from './client-response.ts';
import type { HandshakeOutcome } from './handshake-outcome.ts';
import type { RequestMessage } from './request-message.ts';

/** Handles the messages of clients, of every HTTP version. */
export interface ListenerHandlers {
  /** Counts a connection of an address; false if it must be refused. */
  admit?(address: string): boolean;
  /** Ends a connection that was admitted. */
  release?(address: string): void;
  /** Notes that what a client sent was answered with this status, because it is no request. */
  refused?(address: string, status: number): void;
  /** Returns whether connections of an address may begin with a header of the PROXY protocol. */
  isTrustedProxy?(address: string): boolean;
  /** Notes a connection of a trusted proxy that was reset because its PROXY header is malformed or late. */
  refusedProxyHeader?(address: string): void;
  /** Returns the certificates for the name of a server, each with another type of key. */
  certificatesFor?(serverName: string | undefined): readonly CompiledCertificate[];
  /** Notes the end of a handshake. */
  handshake?(outcome: HandshakeOutcome): void;
  request(message: RequestMessage, response: ClientResponse): void;
  /** WebSocket handshakes only; any other `Upgrade` is ignored, as RFC 9110, section 7.8 allows. */
  upgrade(message: RequestMessage, socket: Duplex, head: Buffer): void;
}
