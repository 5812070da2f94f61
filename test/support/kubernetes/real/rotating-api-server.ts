import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { connectKubernetes } from '../../../../controller/kubernetes/connect-kubernetes.ts';
import { kubeconfigAccess } from '../../../../controller/kubernetes/kubeconfig-access.ts';
import type { KubernetesApi } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { createAdminClient } from '../admin-client.ts';
import type { AdminClient } from '../cluster.ts';
import type { Binaries } from './find-binaries.ts';
import { startEtcd } from './start-etcd.ts';
import { startKubeApiserver } from './start-kube-apiserver.ts';

/** One start of an API server. */
interface Running extends AsyncDisposable {
  readonly admin: AdminClient;
  readonly api: KubernetesApi;
}

/** A kube-apiserver with a cluster of its own, whose key for tokens of ServiceAccounts can be replaced. */
export class RotatingApiServer implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;
  readonly #start: () => Promise<Running>;
  #running: Running;

  private constructor(
    stack: AsyncDisposableStack,
    start: () => Promise<Running>,
    running: Running,
  ) {
    this.#stack = stack;
    this.#start = start;
    this.#running = running;
  }

  static async start(binaries: Binaries): Promise<RotatingApiServer> {
    await using stack = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-rotating-'));
    stack.defer(async () => await rm(directory, { recursive: true, force: true }));
    const { url } = stack.use(await startEtcd(binaries.etcd, directory));
    let starts = 0;
    const start = async (): Promise<Running> => {
      starts += 1;
      return startOn(binaries, url, join(directory, String(starts)));
    };
    const running = await start();
    return new RotatingApiServer(stack.move(), start, running);
  }

  get admin(): AdminClient {
    return this.#running.admin;
  }

  get api(): KubernetesApi {
    return this.#running.api;
  }

  /** Stops the server. Requests then fail. */
  async stop(): Promise<void> {
    await this.#running[Symbol.asyncDispose]();
  }

  /** Starts the stopped server again, with another key, and at another address. */
  async startWithAnotherKey(): Promise<void> {
    this.#running = await this.#start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#stack.disposeAsync();
  }
}

async function startOn(
  { kubeApiserver: program }: Binaries,
  etcdUrl: string,
  directory: string,
): Promise<Running> {
  await using stack = new AsyncDisposableStack();
  await mkdir(directory);
  const { adminKubeconfig } = stack.use(await startKubeApiserver({ program, etcdUrl, directory }));
  const admin = stack.use(await createAdminClient(adminKubeconfig));
  const api = connectKubernetes(kubeconfigAccess(adminKubeconfig));
  const opened = stack.move();
  return { admin, api, [Symbol.asyncDispose]: async () => await opened.disposeAsync() };
}
