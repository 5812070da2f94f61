import type { Cluster } from '../../support/kubernetes/cluster.ts';
import { openWatch, type OpenWatch, type WatchLine } from '../../support/kubernetes/open-watch.ts';
import { eventually } from '../../support/eventually.ts';

const GROUP_PATH = '/apis/gatehouse.dev/v1alpha1';
const DEADLINE_MS = 600_000;

/** The fields of a Route or GatewaySettings that are used here. */
interface Watched {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly observedGeneration?: number;
    }[];
  };
}

/** Watches statuses from its start until it is disposed of. */
export class StatusWatch implements AsyncDisposable {
  readonly #watches: readonly LongWatch[];
  readonly #generations = new Map<string, number>();
  readonly #programmed = new Set<string>();
  #programmedAt = 0;
  #routeWrites = 0;
  #settingsWrites = 0;

  private constructor(routes: LongWatch, settings: LongWatch) {
    this.#watches = [routes, settings];
  }

  static async open(cluster: Cluster): Promise<StatusWatch> {
    const routes = new LongWatch(cluster, `${GROUP_PATH}/routes`);
    const settings = new LongWatch(cluster, `${GROUP_PATH}/gatewaysettings`);
    const watch = new StatusWatch(routes, settings);
    await routes.start((line) => watch.#seeRoute(line));
    await settings.start(({ type }) => {
      if (type === 'MODIFIED') watch.#settingsWrites += 1;
    });
    return watch;
  }

  /** Resolves with the time when `count` Routes that were added or changed since the start are programmed. */
  async programmed(count: number): Promise<number> {
    const what = `${String(count)} Routes are programmed`;
    await eventually(what, () => this.#programmed.size >= count, DEADLINE_MS);
    return this.#programmedAt;
  }

  /** Number of changes of status without a change of spec. */
  get routeWrites(): number {
    return this.#routeWrites;
  }

  get settingsWrites(): number {
    return this.#settingsWrites;
  }

  #seeRoute({ type, object }: WatchLine): void {
    // Everything that is watched here has this form.
    const { metadata, status } = object as unknown as Watched;
    const { name, generation } = metadata;
    if (type === 'MODIFIED' && this.#generations.get(name) === generation) this.#routeWrites += 1;
    this.#generations.set(name, generation);
    const isProgrammed = status?.conditions?.some(
      (condition) =>
        condition.type === 'Programmed' &&
        condition.status === 'True' &&
        condition.observedGeneration === generation,
    );
    if (isProgrammed !== true || this.#programmed.has(name)) return;
    this.#programmed.add(name);
    this.#programmedAt = performance.now();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#watches.map((watch) => watch[Symbol.asyncDispose]()));
  }
}

/** A watch that continues where it was when the API server ends it, as a busy one does. */
class LongWatch implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #path: string;
  #version = '';
  #watch: OpenWatch | undefined;
  #isOver = false;

  constructor(cluster: Cluster, path: string) {
    this.#cluster = cluster;
    this.#path = path;
  }

  /** Starts with the changes after now. */
  async start(take: (line: WatchLine) => void): Promise<void> {
    // Every API server answers with a list.
    const { metadata } = (await this.#cluster.admin.request('GET', `${this.#path}?limit=1`)) as {
      readonly metadata: { readonly resourceVersion: string };
    };
    this.#version = metadata.resourceVersion;
    const watch = await this.#open();
    void this.#follow(watch, take);
  }

  async #open(): Promise<OpenWatch> {
    const query = `watch=true&resourceVersion=${this.#version}`;
    this.#watch = await openWatch(this.#cluster.adminKubeconfig, `${this.#path}?${query}`);
    return this.#watch;
  }

  /** Rejects, and so ends the benchmark, if the watch cannot continue. */
  async #follow(first: OpenWatch, take: (line: WatchLine) => void): Promise<void> {
    let watch = first;
    for (;;) {
      const line = await watch.next().catch(() => undefined);
      if (this.#isOver) return;
      if (line === undefined) {
        await watch[Symbol.asyncDispose]();
        watch = await this.#open();
      } else if (line.type === 'ERROR') {
        throw new Error(`the watch of ${this.#path} broke: ${String(line.object.reason)}`);
      } else {
        this.#version = line.object.metadata.resourceVersion;
        take(line);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#watch?.[Symbol.asyncDispose]();
  }
}
