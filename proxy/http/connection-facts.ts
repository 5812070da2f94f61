/**
 * Facts about the connection of a message. The socket of a connection has them as properties, and a listener
 * of another HTTP version passes that socket on.
 */
export interface ConnectionFacts {
  /** Address of the client; what a PROXY header says, if a trusted proxy sent one. */
  readonly remoteAddress?: string | undefined;
  /** Present if TLS ends here: the certificate that the client got. */
  readonly certificate?: ConnectionCertificate;
}

/** The certificate of a connection. */
export interface ConnectionCertificate {
  /** Returns whether it is for a host, which is written as in `Host`, with a port or without. */
  covers(authority: string): boolean;
}
