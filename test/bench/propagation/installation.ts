import type { Cluster } from '../../support/kubernetes/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import {
  startClusterGateway,
  type ClusterGateway,
} from '../../support/kubernetes/cluster-gateway.ts';
import { startRedis, type TestRedis } from '../../support/redis/start-redis.ts';
import { RouteChanges } from './changes.ts';
import { startNamedUpstream, type NamedUpstream } from './named-upstream.ts';
import { openCluster } from './open-cluster.ts';
import { Probes } from './probes.ts';
import { ProxyClient } from './proxy-client.ts';
import { createRoutes, deleteRoutes } from './routes.ts';
import { StatusWatch } from './status-watch.ts';

const PROXIES = 3;
const GONE_DEADLINE_MS = 60_000;

/** Durations and writes until all new Routes were programmed. */
export interface Growth {
  readonly routes: number;
  /** Milliseconds to create them. */
  readonly createdMs: number;
  /** Milliseconds from the response to the last request until all of them were programmed. */
  readonly programmedMs: number;
  readonly statusWrites: number;
  readonly settingsWrites: number;
}

/** A gateway that is measured, with everything that it needs. */
export class Installation implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly gateway: ClusterGateway;
  readonly redis: TestRedis;
  readonly probes: Probes;
  readonly changes: RouteChanges;
  readonly #upstream: NamedUpstream;
  readonly #clients: readonly ProxyClient[];
  readonly #stack: AsyncDisposableStack;
  #names: string[] = [];

  private constructor(
    parts: Pick<Installation, 'cluster' | 'gateway' | 'redis' | 'probes'>,
    {
      upstreams,
      clients,
      stack,
    }: {
      readonly upstreams: readonly [NamedUpstream, NamedUpstream];
      readonly clients: readonly ProxyClient[];
      readonly stack: AsyncDisposableStack;
    },
  ) {
    this.cluster = parts.cluster;
    this.gateway = parts.gateway;
    this.redis = parts.redis;
    this.probes = parts.probes;
    this.changes = new RouteChanges(this.cluster.admin, clients, upstreams);
    [this.#upstream] = upstreams;
    this.#clients = clients;
    this.#stack = stack;
  }

  /** Starts the gateway without Routes. */
  static async start(wantsFake: boolean): Promise<Installation> {
    await using stack = new AsyncDisposableStack();
    const { cluster } = stack.use(await openCluster(wantsFake));
    const redis = stack.use(await startRedis());
    const probes = stack.use(await Probes.open());
    const upstreams = [
      stack.use(await startNamedUpstream('first')),
      stack.use(await startNamedUpstream('second')),
    ] as const;
    const gateway = stack.use(
      await startClusterGateway({
        cluster,
        redisUrl: redis.url,
        controllers: 1,
        proxies: PROXIES,
        controllerFlags: ['--deletion-delay', '1s'],
        controllerVariables: [probes.variables('controller')],
        proxyVariables: (index) => probes.variables(proxyName(index)),
      }),
    );
    const clients: ProxyClient[] = [];
    for (const proxy of gateway.proxies) clients.push(stack.use(await ProxyClient.connect(proxy)));
    const parts = { upstreams, clients, stack: stack.move() };
    return new Installation({ cluster, gateway, redis, probes }, parts);
  }

  /** Names of the Routes that exist. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** Creates Routes until there are `size`, and waits until they are programmed. */
  async growTo(size: number, settle: () => Promise<void>): Promise<Growth> {
    const { cluster } = this;
    const names = Array.from({ length: size - this.#names.length }, (_, index) =>
      routeName(index + this.#names.length),
    );
    await using watch = await StatusWatch.open(cluster);
    const begunAt = performance.now();
    await createRoutes(cluster.admin, names, this.#upstream.origin);
    const createdAt = performance.now();
    const programmedAt = await watch.programmed(names.length);
    await settle();
    this.#names.push(...names);
    return {
      routes: names.length,
      createdMs: createdAt - begunAt,
      programmedMs: programmedAt - createdAt,
      statusWrites: watch.routeWrites,
      settingsWrites: watch.settingsWrites,
    };
  }

  /** Deletes all Routes, and waits until no proxy serves them. */
  async clear(): Promise<void> {
    const [name = ''] = this.#names;
    await deleteRoutes(this.cluster.admin);
    for (const client of this.#clients) {
      const isGone = async (): Promise<boolean> => (await client.answer(name)).startsWith('421');
      await eventually('all Routes are gone', isGone, GONE_DEADLINE_MS);
    }
    this.#names = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** Name of the probe of a proxy. */
export function proxyName(index: number): string {
  return `proxy-${String(index)}`;
}

function routeName(index: number): string {
  return `route-${String(index).padStart(5, '0')}`;
}
