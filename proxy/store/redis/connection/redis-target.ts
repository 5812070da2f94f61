import { formatAddress } from '../../../../shared/runtime/listen-address.ts';

/** Address of one server. */
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

/** TLS settings. Files are PEM. */
export interface RedisTls {
  /** Authorities that are trusted instead of Node's. */
  readonly caFile?: string;
  /** Certificate of the proxy. */
  readonly clientCertificate?: { readonly certFile: string; readonly keyFile: string };
  /** Name expected in the server's certificate, and sent as SNI; the host if absent. */
  readonly serverName?: string;
}

interface EveryTarget {
  /** Begins every key and channel; ends with a colon. */
  readonly prefix: string;
  readonly login?: RedisLogin;
  readonly tls?: RedisTls;
  /** Timeout of commands; by default as long as a request can wait. */
  readonly commandTimeoutMs?: number;
}

/** One Redis server. */
export interface StandaloneTarget extends EveryTarget {
  readonly kind: 'standalone';
  readonly address: RedisAddress;
  readonly database: number;
}

/** The master that sentinels know by a name. */
export interface SentinelTarget extends EveryTarget {
  readonly kind: 'sentinel';
  readonly sentinels: readonly RedisAddress[];
  readonly sentinelLogin?: RedisLogin;
  readonly master: string;
  readonly database: number;
}

/** A Redis Cluster, given by some of its nodes. */
export interface ClusterTarget extends EveryTarget {
  readonly kind: 'cluster';
  readonly nodes: readonly RedisAddress[];
}

/** The Redis that holds the shared state. */
export type RedisTarget = StandaloneTarget | SentinelTarget | ClusterTarget;

/** Formats the hosts and ports of a target, without secrets. */
export function formatTarget(target: RedisTarget): string {
  return addressesOf(target).map(formatAddress).join(', ');
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
