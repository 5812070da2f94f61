import type { ConnectionLimits } from '../../../proxy/server/connection-counter.ts';
import type { ListenAddress } from '../../../shared/runtime/listen-address.ts';
import { isLoopbackHost } from '../../../shared/snapshot/loopback-host.ts';
import type { Arguments, CommandLine } from '../../arguments.ts';
import { UsageError } from '../../usage-error.ts';
import { readRedisFlags, redisFlags, type RedisSource } from '../../flags/redis-flags.ts';
import { DEV_ALLOW_LOOPBACK } from '../../flags/dev-allow-loopback.ts';
import { ACCESS_LOG } from '../../flags/access-log.ts';
import { ADMIN_LISTEN, readAdminListen } from '../../flags/admin-listen.ts';
import { CONNECTION_LIMITS, readConnectionLimits } from '../../flags/connection-limits.ts';
import { parseListen } from '../../flags/listen-addresses.ts';
import { LISTEN_TLS, readListenTls } from '../../flags/listen-tls.ts';
import { formatAddress } from '../../../shared/runtime/listen-address.ts';

/** Flags of `gatehouse run`. */
export const RUN_LINE: CommandLine = {
  name: 'run',
  summary: 'Run the gateway on this machine, configured by files that it watches',
  flags: {
    config: {
      kind: 'text',
      environment: 'GATEHOUSE_CONFIG',
      value: 'FILE|DIR',
      description:
        'Manifests or plain YAML: one file, or the *.yaml, *.yml, *.json of a directory.',
      isRequired: true,
    },
    listen: {
      kind: 'text',
      environment: 'GATEHOUSE_LISTEN',
      defaultValue: '127.0.0.1:8080',
      value: 'HOST:PORT',
      description: 'Where to accept requests; :PORT is every interface, commas separate several.',
    },
    'listen-tls': { ...LISTEN_TLS, defaultValue: '127.0.0.1:8443' },
    'admin-listen': { ...ADMIN_LISTEN, defaultValue: '127.0.0.1:9090' },
    ...redisFlags('Keeps state in Redis, for several proxies and across restarts; else in memory.'),
    'sealing-keys-dir': {
      kind: 'text',
      environment: 'GATEHOUSE_SEALING_KEYS_DIR',
      value: 'DIR',
      description: 'Keys that seal tokens, one per file; the last by name seals.',
    },
    'state-dir': {
      kind: 'text',
      environment: 'GATEHOUSE_STATE_DIR',
      value: 'DIR',
      description: 'Where to keep generated keys. Without it they are lost when the process ends.',
    },
    ...CONNECTION_LIMITS,
    'access-log': ACCESS_LOG,
    'dev-allow-loopback': DEV_ALLOW_LOOPBACK,
  },
};

/** Values of the flags of `gatehouse run`. */
export interface RunFlags {
  readonly path: string;
  readonly listen: readonly ListenAddress[];
  readonly listenTls: readonly ListenAddress[];
  readonly adminListen: ListenAddress;
  /** Undefined: state is in memory. */
  readonly redis: RedisSource | undefined;
  readonly sealingKeysDirectory: string | undefined;
  readonly stateDirectory: string | undefined;
  readonly connectionLimits: ConnectionLimits;
  readonly accessLog: boolean;
  readonly devAllowLoopback: boolean;
}

/** Reads the flags of `gatehouse run`. Throws `UsageError`, also for an unsafe combination. */
export function readRunFlags(flags: Arguments): RunFlags {
  const listen = parseListen('listen', flags.text('listen') ?? '');
  const listenTls = readListenTls(flags);
  const adminListen = readAdminListen(flags);
  const devAllowLoopback = flags.isOn('dev-allow-loopback');
  const reachable = [...listen, ...listenTls, adminListen].find(
    ({ host }) => !isLoopbackHost(host),
  );
  // Attack: with the flag, plain http carries tokens, and requests reach this machine's services.
  if (devAllowLoopback && reachable !== undefined) {
    const address = formatAddress(reachable);
    throw new UsageError(`--dev-allow-loopback is refused, ${address} is not a loopback address`);
  }
  const options = {
    path: flags.text('config') ?? '',
    listen,
    listenTls,
    adminListen,
    redis: readRedisFlags(flags),
    sealingKeysDirectory: flags.text('sealing-keys-dir'),
    stateDirectory: flags.text('state-dir'),
    connectionLimits: readConnectionLimits(flags),
    accessLog: flags.isOn('access-log'),
    devAllowLoopback,
  };
  refuseLostKeys(options);
  return options;
}

function refuseLostKeys({ redis, sealingKeysDirectory, stateDirectory }: RunFlags): void {
  if (redis === undefined || (sealingKeysDirectory ?? stateDirectory) !== undefined) return;
  throw new UsageError(
    'with Redis, --sealing-keys-dir or --state-dir is required: ' +
      'the state in Redis is sealed, and keys of this process only would be lost when it ends',
  );
}
