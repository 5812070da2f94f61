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

const MASTERS = 3;
const SLOTS = 16_384;
const POLL_MS = 20;
/** A master refuses writes for two seconds of its own clock after its start. */
const WRITABLE_AFTER_SECONDS = 5;
/** Ten years: masters that mistake a moved clock for silence would declare each other dead. */
const NODE_TIMEOUT_MS = 10 * 365 * 86_400_000;

/** A real Redis Cluster of three masters on loopback, with one clock that the test moves. */
export interface TestRedisCluster extends AsyncDisposable {
  /** Value of `--redis-url`; names every node. */
  readonly url: string;
  readonly nodes: readonly RedisProcess[];
  /** Kills every node. */
  stop(): Promise<void>;
  /** Starts every node again on its port, empty. */
  start(): Promise<void>;
  /** Moves the clock of every node. */
  advance(seconds: number): void;
  /** Milliseconds since the epoch, by the clock of the nodes. */
  now(): number;
}

/** Starts a Cluster that dies with the test, and waits until it takes writes. */
export async function startRedisCluster(
  options: RedisSecurityOptions = {},
): Promise<TestRedisCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-redis-cluster-'));
  const clock = createMovedClock(directory);
  const security = await createRedisSecurity(options, directory);
  const members = await Promise.all(
    Array.from({ length: MASTERS }, (_, index) =>
      startMaster(join(directory, String(index)), clock, security),
    ),
  );
  const nodes = members.map(({ node }) => node);
  await makeCluster(members);
  await takesWrites(nodes, clock);
  const { scheme, login, parameters } = urlPartsOf(security);
  const hosts = nodes.map(({ port }) => `127.0.0.1:${String(port)}`).join(',');
  return {
    url: `${scheme}+cluster://${login}${hosts}${queryOf(parameters)}`,
    nodes,
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
    start: async () => {
      await Promise.all(nodes.map((node) => node.start()));
      await takesWrites(nodes, clock);
    },
    advance: (seconds) => clock.advance(seconds),
    now: () => clock.now(),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Member {
  readonly node: RedisProcess;
  readonly busPort: number;
}

async function startMaster(
  directory: string,
  clock: MovedClock,
  security: RedisSecurity,
): Promise<Member> {
  const busPort = await freePort();
  const node = await RedisProcess.start({
    port: await freePort(),
    directory,
    clock,
    security,
    configuration: [
      'cluster-enabled yes',
      'cluster-config-file nodes.conf',
      `cluster-port ${String(busPort)}`,
      `cluster-node-timeout ${String(NODE_TIMEOUT_MS)}`,
      'cluster-announce-ip 127.0.0.1',
    ],
  });
  return { node, busPort };
}

/** Gives every master its share of the slots, and makes them meet. */
async function makeCluster(members: readonly Member[]): Promise<void> {
  const share = Math.ceil(SLOTS / members.length);
  for (const [index, { node }] of members.entries()) {
    const first = index * share;
    const last = Math.min(first + share, SLOTS) - 1;
    await node.send('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    await node.send('CLUSTER', 'ADDSLOTSRANGE', first, last);
  }
  // Each is told of every other, because waiting for gossip takes seconds.
  for (const { node } of members) {
    for (const other of members) {
      if (other.node === node) continue;
      await node.send('CLUSTER', 'MEET', '127.0.0.1', other.node.port, other.busPort);
    }
  }
}

async function takesWrites(nodes: readonly RedisProcess[], clock: MovedClock): Promise<void> {
  const deadline = Date.now() + HANG_GUARD_MS;
  await until(deadline, nodes, (info) =>
    info.includes(`cluster_known_nodes:${String(nodes.length)}`),
  );
  clock.advance(WRITABLE_AFTER_SECONDS);
  await until(deadline, nodes, (info) => info.includes('cluster_state:ok'));
}

async function until(
  deadline: number,
  nodes: readonly RedisProcess[],
  fits: (info: string) => boolean,
): Promise<void> {
  for (;;) {
    const infos = await Promise.all(nodes.map((node) => node.send('CLUSTER', 'INFO')));
    if (infos.every((info) => fits(String(info)))) return;
    if (Date.now() > deadline) throw new Error(`the Cluster does not form: ${infos.join('\n')}`);
    await sleep(POLL_MS);
  }
}
