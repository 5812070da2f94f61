/** One server. */
export interface RedisAddress {
  /** A name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** An ACL user. */
export interface RedisLogin {
  readonly username: string;
  readonly password: string;
}

/** How TLS is spoken. Files are PEM. */
export interface RedisTls {
  /** Trusted instead of the authorities that Node trusts. */
  readonly caFile?: string;
  /** What the proxy shows. */
  readonly clientCertificate?: { readonly certFile: string; readonly keyFile: string };
  /** Expected in the server's certificate, and sent as SNI; otherwise the host is. */
  readonly serverName?: string;
}

interface EveryTarget {
  /** Before every key and channel, with its colon. */
  readonly prefix: string;
  readonly login?: RedisLogin;
  readonly tls?: RedisTls;
  /** A command that takes longer has failed. By default as long as a request can wait. */
  readonly commandTimeoutMs?: number;
}

/** One Redis server. */
export interface StandaloneTarget extends EveryTarget {
  readonly kind: 'standalone';
  readonly address: RedisAddress;
  readonly database: number;
}

/** The master that Sentinels know by a name. */
export interface SentinelTarget extends EveryTarget {
  readonly kind: 'sentinel';
  readonly sentinels: readonly RedisAddress[];
  readonly sentinelLogin?: RedisLogin;
  readonly master: string;
  readonly database: number;
}

/** A Redis Cluster, by some of its nodes. */
export interface ClusterTarget extends EveryTarget {
  readonly kind: 'cluster';
  readonly nodes: readonly RedisAddress[];
}

/** Where the shared state lives. */
export type RedisTarget = StandaloneTarget | SentinelTarget | ClusterTarget;

/** Hosts and ports, and nothing that is secret. */
export function placesOf(target: RedisTarget): string {
  return addressesOf(target)
    .map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${String(port)}`)
    .join(', ');
}

function addressesOf(target: RedisTarget): readonly RedisAddress[] {
  switch (target.kind) {
    case 'standalone':
      return [target.address];
    case 'sentinel':
      return target.sentinels;
    case 'cluster':
      return target.nodes;
  }
}
