import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';

import type { ClusterOptions, RedisOptions } from 'ioredis';

import type { RedisAddress, RedisTarget, RedisTls, SentinelTarget } from './redis-target.ts';

/** Timeout of commands, unless the target sets one. */
const COMMAND_TIMEOUT_MS = 1500;
const CONNECT_TIMEOUT_MS = 2000;
/** How long a server may take to close a connection before it is cut. */
const DISCONNECT_TIMEOUT_MS = 100;

/** Options of every connection, to any kind of target. */
type SharedOptions = NonNullable<ClusterOptions['redisOptions']>;

/**
 * Returns the options of every connection. No command waits or is sent twice: after a connection
 * broke, its last command may have had its effect, and a code that is consumed twice looks stolen.
 */
export async function sharedOptions({
  login,
  tls,
  commandTimeoutMs = COMMAND_TIMEOUT_MS,
}: RedisTarget): Promise<SharedOptions> {
  return {
    ...(login && { username: login.username, password: login.password }),
    ...(tls && { tls: await tlsOptions(tls) }),
    connectionName: 'gatehouse',
    // Redis 7.0 does not know the command that this would send.
    disableClientInfo: true,
    protocol: 2,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    commandTimeout: commandTimeoutMs,
    // A server that owes an answer and sends nothing for this long counts as dead.
    socketTimeout: commandTimeoutMs,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    lazyConnect: true,
  };
}

/** Returns the options of a connection to one server, found by its address or through sentinels. */
export async function serverOptions(
  target: RedisTarget,
  node?: RedisAddress,
): Promise<RedisOptions> {
  const shared = await sharedOptions(target);
  switch (target.kind) {
    case 'standalone':
      return { ...shared, ...target.address, db: target.database };
    case 'sentinel':
      return { ...shared, ...sentinelOptions(target, shared.tls) };
    case 'cluster':
      return { ...shared, ...node };
  }
}

function sentinelOptions(
  { sentinels, sentinelLogin, master, database }: SentinelTarget,
  tls: ConnectionOptions | undefined,
): RedisOptions {
  return {
    // In random order, so that a sentinel that hangs is not always the first.
    sentinels: sentinels.toSorted(() => Math.random() - 0.5),
    name: master,
    db: database,
    updateSentinels: false,
    sentinelRetryStrategy: () => null,
    sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    ...(sentinelLogin && {
      sentinelUsername: sentinelLogin.username,
      sentinelPassword: sentinelLogin.password,
    }),
    ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

/** Read at every connect: certificates are renewed while the proxy runs. */
async function tlsOptions(tls: RedisTls): Promise<ConnectionOptions> {
  const { caFile, clientCertificate, serverName } = tls;
  return {
    ...(caFile !== undefined && { ca: await readFile(caFile) }),
    ...(clientCertificate && {
      cert: await readFile(clientCertificate.certFile),
      key: await readFile(clientCertificate.keyFile),
    }),
    ...(serverName !== undefined && { servername: serverName }),
  };
}
