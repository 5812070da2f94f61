import type { ConnectionOptions } from 'node:tls';

/** The authorities to trust, and the certificate to present. */
export type TlsOptions = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'
>;

/** What a request to the API server needs. */
export interface ClusterCredentials {
  readonly tls: TlsOptions;
  /** Header fields, with their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** How this process reaches the API server. */
export interface ClusterAccess {
  /** URL of the API server, without a slash at its end. */
  readonly server: string;
  /** URL of the proxy to go through; undefined: none. */
  readonly proxy: string | undefined;
  /** Namespace of this process; undefined if nothing names it. */
  readonly namespace: string | undefined;
  /** Reads the credentials. Each request asks, because tokens and certificates are rotated. */
  credentials(): Promise<ClusterCredentials>;
}
