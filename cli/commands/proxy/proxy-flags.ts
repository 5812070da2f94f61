import { hostname } from 'node:os';

import type { ConnectionLimits } from '../../../proxy/server/connection-counter.ts';
import type { ListenAddress } from '../../../shared/runtime/listen-address.ts';
import type { Arguments, CommandLine } from '../../arguments.ts';
import { ACCESS_LOG } from '../../flags/access-log.ts';
import { ADMIN_LISTEN, readAdminListen } from '../../flags/admin-listen.ts';
import { CONNECTION_LIMITS, readConnectionLimits } from '../../flags/connection-limits.ts';
import { readDuration } from '../../flags/duration-flag.ts';
import { parseListen } from '../../flags/listen-addresses.ts';
import { LISTEN_TLS, readListenTls } from '../../flags/listen-tls.ts';
import { readRedisFlags, redisFlags, type RedisSource } from '../../flags/redis-flags.ts';
import { UsageError } from '../../usage-error.ts';

/** Flags of `gatehouse proxy`. */
export const PROXY_LINE: CommandLine = {
  name: 'proxy',
  summary: 'Serve requests by the configuration that the controller of a cluster pushes',
  flags: {
    controller: {
      kind: 'text',
      environment: 'GATEHOUSE_CONTROLLER',
      value: 'URL',
      description:
        'Service of the controllers, such as https://gatehouse-controller.gatehouse.svc:8444.',
      isRequired: true,
    },
    'controller-ca': {
      kind: 'text',
      environment: 'GATEHOUSE_CONTROLLER_CA',
      value: 'FILE',
      description:
        'Certificates (PEM) of the authorities that sign the certificate of the controllers.',
      isRequired: true,
    },
    'token-file': {
      kind: 'text',
      environment: 'GATEHOUSE_TOKEN_FILE',
      defaultValue: '/var/run/secrets/gatehouse/token',
      value: 'FILE',
      description: 'Projected ServiceAccount token for the audience gatehouse-controller.',
    },
    'proxy-id': {
      kind: 'text',
      environment: 'GATEHOUSE_PROXY_ID',
      value: 'NAME',
      description: 'Name of this pod, which the token is bound to. Defaults to the host name.',
    },
    gateway: {
      kind: 'text',
      environment: 'GATEHOUSE_GATEWAY',
      defaultValue: 'gatehouse',
      value: 'NAME',
      description:
        'Separates gateways that share one Redis; the same for all proxies of a gateway.',
    },
    listen: {
      kind: 'text',
      environment: 'GATEHOUSE_LISTEN',
      defaultValue: ':8080',
      value: 'HOST:PORT',
      description: 'Where to accept requests; :PORT is every interface, commas separate several.',
    },
    'listen-tls': LISTEN_TLS,
    'admin-listen': ADMIN_LISTEN,
    ...redisFlags('Where state is kept, and shared with the other proxies. Required.'),
    'sealing-keys-dir': {
      kind: 'text',
      environment: 'GATEHOUSE_SEALING_KEYS_DIR',
      value: 'DIR',
      description:
        'Keys that seal tokens, one per file; the last by name seals. The same for all proxies.',
      isRequired: true,
    },
    'cache-dir': {
      kind: 'text',
      environment: 'GATEHOUSE_CACHE_DIR',
      value: 'DIR',
      description: 'Where to keep the configuration for a restart, sealed. In memory (tmpfs).',
    },
    'drain-delay': {
      kind: 'text',
      environment: 'GATEHOUSE_DRAIN_DELAY',
      defaultValue: '10s',
      value: 'DURATION',
      description: 'How long to keep accepting requests after SIGTERM, until clients send no more.',
    },
    'drain-timeout': {
      kind: 'text',
      environment: 'GATEHOUSE_DRAIN_TIMEOUT',
      defaultValue: '60s',
      value: 'DURATION',
      description: 'How long requests in progress may take after that.',
    },
    ...CONNECTION_LIMITS,
    'access-log': ACCESS_LOG,
  },
};

/** Values of the flags of `gatehouse proxy`. */
export interface ProxyFlags {
  /** `https` URL of the push Service. */
  readonly controller: URL;
  readonly controllerCa: string;
  readonly tokenFile: string;
  readonly proxyId: string;
  /** Names the gateway in Redis. */
  readonly gateway: string;
  readonly listen: readonly ListenAddress[];
  readonly listenTls: readonly ListenAddress[];
  readonly adminListen: ListenAddress;
  readonly redis: RedisSource;
  readonly sealingKeysDirectory: string;
  readonly cacheDirectory: string | undefined;
  readonly drainDelayMs: number;
  readonly drainTimeoutMs: number;
  readonly connectionLimits: ConnectionLimits;
  readonly accessLog: boolean;
}

/** Reads the flags of `gatehouse proxy`. Throws `UsageError`. */
export function readProxyFlags(flags: Arguments): ProxyFlags {
  const redis = readRedisFlags(flags);
  if (redis === undefined) {
    throw new UsageError(
      '--redis-url or --redis-url-file is required\nSee: gatehouse proxy --help',
    );
  }
  return {
    controller: readControllerUrl(flags.text('controller') ?? ''),
    controllerCa: flags.text('controller-ca') ?? '',
    tokenFile: flags.text('token-file') ?? '',
    proxyId: flags.text('proxy-id') ?? hostname(),
    gateway: flags.text('gateway') ?? '',
    listen: parseListen('listen', flags.text('listen') ?? ''),
    listenTls: readListenTls(flags),
    adminListen: readAdminListen(flags),
    redis,
    sealingKeysDirectory: flags.text('sealing-keys-dir') ?? '',
    cacheDirectory: flags.text('cache-dir'),
    drainDelayMs: readDuration(flags, 'drain-delay'),
    drainTimeoutMs: readDuration(flags, 'drain-timeout'),
    connectionLimits: readConnectionLimits(flags),
    accessLog: flags.isOn('access-log'),
  };
}

/** Reads the URL of the controller. Only https is accepted, because snapshots hold secrets. */
function readControllerUrl(text: string): URL {
  const url = URL.parse(text);
  const isOrigin = url !== null && url.href === `${url.origin}/`;
  if (isOrigin && url.protocol === 'https:') return url;
  throw new UsageError('--controller must be https://HOST:PORT');
}
