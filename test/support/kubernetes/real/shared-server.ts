import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createAdminClient } from '../admin-client.ts';
import type { AdminClient, Cluster, ClusterCapabilities } from '../cluster.ts';
import {
  FOREIGN_DEFINITIONS,
  installDefinitions,
  OUR_DEFINITIONS,
} from '../definitions/install-definitions.ts';
import { readContents, restoreContents, type Contents } from './contents.ts';
import { realCluster } from './real-cluster.ts';
import type { RunningServer } from './start-server.ts';

/** Options of an API server of the tests. */
export interface SharedServerOptions {
  readonly kind: Cluster['kind'];
  readonly capabilities: ClusterCapabilities;
  /** Starts a server that keeps its files in `directory`. */
  readonly start: (directory: string) => Promise<RunningServer>;
}

/**
 * An API server that the tests of a file use one after another, because a start takes seconds.
 * Disposing of it stops it.
 */
export class SharedServer implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;
  readonly #options: SharedServerOptions;
  readonly #directory: string;
  readonly #adminKubeconfig: string;
  readonly #admin: AdminClient;
  readonly #empty: Contents;
  #isOpen = false;

  private constructor(
    options: SharedServerOptions,
    started: {
      readonly stack: AsyncDisposableStack;
      readonly directory: string;
      readonly adminKubeconfig: string;
      readonly admin: AdminClient;
      readonly empty: Contents;
    },
  ) {
    this.#options = options;
    this.#stack = started.stack;
    this.#directory = started.directory;
    this.#adminKubeconfig = started.adminKubeconfig;
    this.#admin = started.admin;
    this.#empty = started.empty;
  }

  static async start(options: SharedServerOptions): Promise<SharedServer> {
    await using stack = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-kubernetes-'));
    stack.defer(async () => await rm(directory, { recursive: true, force: true }));
    const { adminKubeconfig } = stack.use(await options.start(directory));
    const admin = stack.use(await createAdminClient(adminKubeconfig));
    await installDefinitions(admin, [...OUR_DEFINITIONS, ...FOREIGN_DEFINITIONS]);
    const empty = await readContents(admin);
    return new SharedServer(options, {
      stack: stack.move(),
      directory,
      adminKubeconfig,
      admin,
      empty,
    });
  }

  /** Opens the server, empty except for the definitions, for one user at a time. */
  open(): Cluster {
    if (this.#isOpen) throw new Error(`a test has this ${this.#options.kind} open already`);
    this.#isOpen = true;
    return realCluster({
      kind: this.#options.kind,
      capabilities: this.#options.capabilities,
      adminKubeconfig: this.#adminKubeconfig,
      admin: this.#admin,
      directory: this.#directory,
      dispose: async () => {
        await restoreContents(this.#admin, this.#empty, this.#options.capabilities);
        this.#isOpen = false;
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
