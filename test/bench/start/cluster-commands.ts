import { CHECKOUT_PROGRAM, type CommandProgram } from '../../support/cli.ts';
import { startClusterGateway } from '../../support/kubernetes/cluster-gateway.ts';
import { startRedis } from '../../support/redis/start-redis.ts';
import { openCluster } from '../propagation/open-cluster.ts';
import { createRoutes } from '../propagation/routes.ts';
import type { CompileCache } from './compile-cache.ts';
import { costUntil, untilReady, type Cost } from './cost.ts';
import type { Subject } from './subject.ts';

const PROMISED_MS = 1200;

/** Commands that need a cluster, which is closed by disposing of them. */
export interface ClusterCommands extends AsyncDisposable {
  readonly subjects: readonly Subject[];
}

/** Opens a cluster with Routes, on the fake API server, for the commands that run in one. */
export async function clusterCommands(
  { variables }: CompileCache,
  routes: number,
): Promise<ClusterCommands> {
  await using opening = new AsyncDisposableStack();
  const { cluster } = opening.use(await openCluster(true));
  const redis = opening.use(await startRedis());
  const gateway = opening.use(
    await startClusterGateway({
      ...{ cluster, redisUrl: redis.url, controllers: 1, proxies: 0 },
      controllerVariables: [variables],
      proxyVariables: () => variables,
    }),
  );
  const names = Array.from({ length: routes }, (_, index) => `route-${String(index)}`);
  await createRoutes(cluster.admin, names, gateway.upstream.origin);
  const [controller] = gateway.controllers;
  if (controller === undefined) throw new Error('a cluster has a controller');

  const startController = async (program: CommandProgram): Promise<Cost> => {
    await controller.terminate();
    controller.start(program);
    return costUntil(controller.pid, async () => {
      const { admin } = await controller.logged('listening');
      await untilReady(admin);
    });
  };
  const startProxy = async (program: CommandProgram): Promise<Cost> => {
    const proxy = await gateway.addProxy(program);
    const cost = await costUntil(proxy.pid, async () => {
      const { admin } = await proxy.logged('started');
      await untilReady(admin);
    });
    await gateway.dropProxy(proxy);
    return cost;
  };
  // The first proxy writes the copy in Redis.
  await startProxy(CHECKOUT_PROGRAM);
  const open = opening.move();
  const title = `${String(routes)} routes`;
  return {
    subjects: [
      { name: `controller, ${title}`, start: startController },
      {
        name: `proxy, ${title} pushed`,
        start: async (program) => {
          await redis.send('FLUSHALL');
          return startProxy(program);
        },
        promisedWallMs: PROMISED_MS,
      },
      { name: `proxy, ${title} in Redis`, start: startProxy, promisedWallMs: PROMISED_MS },
    ],
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
