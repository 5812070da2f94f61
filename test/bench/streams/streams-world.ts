import { join } from 'node:path';

import { TemporaryDirectory } from '../../support/temporary-directory.ts';
import type { Workload } from '../forward/workload.ts';
import { startProgram, type BenchProgram } from '../support/bench-program.ts';
import {
  printLeftOut,
  versionOf,
  type NativeProgram,
  type ServerOptions,
} from '../support/native-program.ts';
import { NGINX } from '../support/nginx.ts';
import { LOAD_CORE, SUBJECT_CORE } from '../support/pinned.ts';
import { startDefaultNginx, startStreamingNginx } from './nginx.ts';

/** Everything that this benchmark starts. Disposing of it ends all of it. */
export class StreamsWorld implements AsyncDisposable {
  readonly #resources: AsyncDisposableStack;
  readonly upstream: BenchProgram;
  /** Absent where Debian's package is not installed. */
  readonly nginx: NativeProgram | undefined;
  readonly #options: ServerOptions;

  private constructor(
    resources: AsyncDisposableStack,
    upstream: BenchProgram,
    { nginx, options }: { nginx: NativeProgram | undefined; options: ServerOptions },
  ) {
    this.#resources = resources;
    this.upstream = upstream;
    this.nginx = nginx;
    this.#options = options;
  }

  static async open(): Promise<StreamsWorld> {
    await using resources = new AsyncDisposableStack();
    const directory = resources.use(await TemporaryDirectory.create());
    const file = join(import.meta.dirname, 'upstream.ts');
    const upstream = resources.use(await startProgram(file, { core: LOAD_CORE }));
    const version = versionOf(NGINX);
    if (version === undefined) printLeftOut('the ratios to nginx', NGINX);
    else console.log(`nginx ${version}`);
    const options = {
      ...{ core: SUBJECT_CORE, upstreamPort: upstream.port, directory },
      stdout: process.stdout.fd,
    };
    const nginx =
      version === undefined ? undefined : resources.use(await startStreamingNginx(options));
    return new StreamsWorld(resources.move(), upstream, { nginx, options });
  }

  /** Starts nginx as it comes, where Debian's package is installed. */
  async startDefaultNginx(): Promise<NativeProgram | undefined> {
    if (this.nginx === undefined) return undefined;
    return this.#resources.use(await startDefaultNginx(this.#options));
  }

  /** Starts the least that a proxy on `node:http` can do. */
  async startHttpRelay(): Promise<BenchProgram> {
    const file = join(import.meta.dirname, 'http-relay.ts');
    const args = [String(this.upstream.port)];
    return this.#resources.use(await startProgram(file, { core: SUBJECT_CORE, args }));
  }

  /** Starts a gateway in front of the upstream. It reports its memory to its parent. */
  async startGateway(workload: Workload): Promise<BenchProgram> {
    const origin = `http://127.0.0.1:${String(this.upstream.port)}`;
    const probe = join(import.meta.dirname, 'memory-probe.ts');
    return this.#resources.use(
      await startProgram(join(import.meta.dirname, '../forward/gateway.ts'), {
        core: SUBJECT_CORE,
        args: [`--workload=${workload}`, origin],
        nodeFlags: ['--expose-gc', `--import=${probe}`],
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}
