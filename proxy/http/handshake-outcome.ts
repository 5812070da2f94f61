/** How the handshake of a TLS connection ended, or why there was none. */
export const HANDSHAKE_OUTCOMES = [
  'completed',
  /** No certificate is for the name that the client asked for, and there is no default one. */
  'unrecognized-name',
  /** Client and gateway have no TLS version, cipher suite or application protocol in common. */
  'nothing-in-common',
  /** The client refused the certificate, or gave up with an alert. */
  'refused-by-client',
  'client-left',
  'timeout',
  /** A request without TLS, which is answered with 400. */
  'plain-http',
  'malformed',
  /** TLS cannot be made with the certificate. */
  'unusable-certificate',
] as const;

/** See the values. */
export type HandshakeOutcome = (typeof HANDSHAKE_OUTCOMES)[number];
