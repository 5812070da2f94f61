import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { HANG_GUARD_MS } from '../eventually.ts';
import { createMovedClock, type MovedClock } from './moved-clock.ts';
import { freePort } from '../free-port.ts';
import { RedisProcess } from './redis-process.ts';
import {
  createRedisSecurity,
  queryOf,
  urlPartsOf,
  type RedisSecurity,
  type RedisSecurityOptions,
} from './redis-security.ts';

const SENTINELS = 2;
const MASTER_NAME = 'gatehouse';
const DOWN_AFTER_MS = 300;
const FAILOVER_TIMEOUT_MS = 3000;
const POLL_MS = 20;

/** Options of a Redis with Sentinels. */
export interface RedisSentinelOptions extends RedisSecurityOptions {
  /** User of the sentinels themselves. */
  readonly sentinelUser?: { readonly name: string; readonly password: string };
}

/** Two Redis servers, one of them the master, watched by two real Sentinels on loopback. */
export interface TestRedisSentinel extends AsyncDisposable {
  /** Value of `--redis-url`; names every sentinel. */
  readonly url: string;
  readonly servers: readonly [RedisProcess, RedisProcess];
  readonly sentinels: readonly RedisProcess[];
  /** Returns the server that the sentinels report as master. */
  master(): Promise<RedisProcess>;
  /** Kills the master, and resolves when the sentinels have made the other server master. */
  failOver(): Promise<void>;
  /** Moves the clock of both servers. */
  advance(seconds: number): void;
  /** Milliseconds since the epoch, by the clock of the servers. */
  now(): number;
}

/** Starts servers and sentinels, which die with the test. */
export async function startRedisSentinel(
  options: RedisSentinelOptions = {},
): Promise<TestRedisSentinel> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-redis-sentinel-'));
  const clock = createMovedClock(directory);
  const security = await createRedisSecurity(options, directory);
  const first = await startServer(join(directory, 'first'), clock, security);
  const second = await startServer(join(directory, 'second'), clock, security, first.port);
  const servers = [first, second] as const;
  const sentinels = await Promise.all(
    Array.from({ length: SENTINELS }, (_, index) =>
      startSentinel({
        directory: join(directory, `sentinel-${String(index)}`),
        security,
        masterPort: first.port,
        user: options.sentinelUser,
      }),
    ),
  );
  const [sentinel] = sentinels;
  if (sentinel === undefined) throw new Error('there are no sentinels');
  const master = (): Promise<RedisProcess> => masterOf(sentinel, servers);
  // Only a replica that every sentinel knows can be promoted, by sentinels that know each other.
  await Promise.all(sentinels.map((each) => knowsEveryone(each)));
  return {
    url: urlOf(security, sentinels, options.sentinelUser),
    servers,
    sentinels,
    master,
    failOver: async () => {
      const old = await master();
      await old.stop();
      await until(async () => (await master()) !== old);
      const [promoted] = servers.filter((server) => server !== old);
      await until(async () => String(await promoted?.send('ROLE')).startsWith('master'));
    },
    advance: (seconds) => clock.advance(seconds),
    now: () => clock.now(),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...sentinels, ...servers].map((each) => each.stop()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function startServer(
  directory: string,
  clock: MovedClock,
  security: RedisSecurity,
  masterPort?: number,
): Promise<RedisProcess> {
  const replication = masterPort === undefined ? [] : [`replicaof 127.0.0.1 ${String(masterPort)}`];
  return RedisProcess.start({
    port: await freePort(),
    directory,
    clock,
    security,
    configuration: ['repl-diskless-sync-delay 0', ...replication],
  });
}

async function startSentinel({
  directory,
  security,
  masterPort,
  user,
}: {
  readonly directory: string;
  readonly security: RedisSecurity;
  readonly masterPort: number;
  readonly user: RedisSentinelOptions['sentinelUser'];
}): Promise<RedisProcess> {
  const { username, password } = security.administrator();
  return RedisProcess.start({
    port: await freePort(),
    directory,
    // A clock of its own, because a Sentinel whose clock jumps stops acting for a while.
    clock: createMovedClock(directory),
    security,
    isSentinel: true,
    configuration: [
      `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${String(masterPort)} 1`,
      `sentinel down-after-milliseconds ${MASTER_NAME} ${String(DOWN_AFTER_MS)}`,
      `sentinel failover-timeout ${MASTER_NAME} ${String(FAILOVER_TIMEOUT_MS)}`,
      `sentinel auth-user ${MASTER_NAME} ${username ?? 'default'}`,
      `sentinel auth-pass ${MASTER_NAME} ${password ?? ''}`,
      ...(user === undefined ? [] : [`user ${user.name} on >${user.password} ~* &* +@all`]),
    ],
  });
}

async function masterOf(
  sentinel: RedisProcess,
  servers: readonly RedisProcess[],
): Promise<RedisProcess> {
  const address = await sentinel.send('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME);
  const port = Number(String(address).split(',')[1]);
  const master = servers.find((server) => server.port === port);
  if (master === undefined)
    throw new Error(`the sentinels report an unknown master: ${String(address)}`);
  return master;
}

async function knowsEveryone(sentinel: RedisProcess): Promise<void> {
  await until(async () => {
    const replicas = await sentinel.send('SENTINEL', 'REPLICAS', MASTER_NAME);
    const others = await sentinel.send('SENTINEL', 'SENTINELS', MASTER_NAME);
    const isLinked = String(replicas).includes('master-link-status,ok');
    return isLinked && Array.isArray(others) && others.length === SENTINELS - 1;
  });
}

async function until(isReached: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + HANG_GUARD_MS;
  while (!(await isReached())) {
    if (Date.now() > deadline) throw new Error('the sentinels did not reach the state in time');
    await sleep(POLL_MS);
  }
}

function urlOf(
  security: RedisSecurity,
  sentinels: readonly RedisProcess[],
  user: RedisSentinelOptions['sentinelUser'],
): string {
  const { scheme, login, parameters } = urlPartsOf(security);
  const own =
    user === undefined ? {} : { sentinel_user: user.name, sentinel_password: user.password };
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${String(port)}`).join(',');
  return `${scheme}+sentinel://${login}${hosts}/${MASTER_NAME}${queryOf({ ...parameters, ...own })}`;
}
