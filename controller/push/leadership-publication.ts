import type { ServerHttp2Stream } from 'node:http2';

import type { Clock } from '../../shared/runtime/clock.ts';
import { LONGEST_CONTROLLER_LINE_BYTES } from '../../shared/snapshot/push-frames.ts';
import { formatPosition, type SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import type { Tracer } from '../../shared/telemetry/tracing/tracer.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { ChangeSet } from '../compile/change-set.ts';
import type { Leadership } from '../leader/leadership.ts';
import { DeliveryTraces } from '../telemetry/delivery-traces.ts';
import type { PushMetrics } from '../telemetry/push-metrics.ts';
import { ChangeNotifier } from './change-notifier.ts';
import { PositionAdvance } from './content/position-advance.ts';
import { PublishedContent } from './content/published-content.ts';
import { EpochGuard } from './epoch-guard.ts';
import { RolloutTracker } from './rollout-tracker.ts';
import type {
  OnPublicationChange,
  OnPublished,
  RolloutState,
  ProxyReport,
  Publication,
  UpstreamAuthState,
} from './publication.ts';
import type { PushTiming } from './push-timing.ts';
import { UpstreamAuthBook } from './upstream-auth-book.ts';
import { ProxyFleet } from './session/proxy-fleet.ts';
import type { ProxyHello } from './session/proxy-hello.ts';
import { ProxyRegistry } from './session/proxy-registry.ts';

/** Options of a publication. */
export interface LeadershipPublicationOptions {
  readonly leadership: Leadership;
  readonly onChange: OnPublicationChange;
  readonly timing: PushTiming;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: PushMetrics;
  /** Traces deliveries; absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly onPublished: OnPublished;
}

const TOO_LARGE = `It is larger than ${String(LONGEST_CONTROLLER_LINE_BYTES)} bytes, too large for proxies.`;

/**
 * The publication of one leadership: its content, and the proxies that receive it.
 *
 *     LeadershipPublication
 *       PublishedContent    what is published, and at which position
 *       ProxyFleet          accepts and ends sessions
 *         ProxySessions     one session per proxy id
 *           ProxySession    what one proxy serves, and what it is sent next
 *             PushStream    frames on its connection, while this controller leads
 *       ProxyRegistry       what each proxy reported
 *       RolloutTracker      how far each resource has got, for the status
 *       UpstreamAuthBook    whether users can connect to upstreams, for the status
 */
export class LeadershipPublication implements Publication, AsyncDisposable {
  readonly #leadership: Leadership;
  readonly #logger: Logger;
  readonly #content: PublishedContent;
  readonly #changes: ChangeNotifier;
  readonly #registry: ProxyRegistry;
  readonly #tracker: RolloutTracker;
  readonly #upstreamAuth: UpstreamAuthBook;
  readonly #fleet: ProxyFleet;
  readonly #traces: DeliveryTraces;
  readonly #onPublished: OnPublished;
  readonly #closing = new DisposableStack();
  /** Closing: asks the proxies to disconnect. Ended: writes nothing. */
  #state: 'open' | 'closing' | 'ended' = 'open';
  #publishedAt: number | undefined;

  constructor(options: LeadershipPublicationOptions) {
    const { leadership, onChange, timing, clock, logger, metrics } = options;
    this.#leadership = leadership;
    this.#logger = logger;
    const content = new PublishedContent(leadership.epoch, () => clock.now());
    const changes = new ChangeNotifier(onChange);
    const registry = new ProxyRegistry({ timing, clock });
    this.#content = content;
    this.#changes = changes;
    this.#registry = registry;
    this.#tracker = new RolloutTracker({ content, registry, changes });
    this.#upstreamAuth = this.#closing.use(
      new UpstreamAuthBook({
        ...{ changes, clock },
        intervalMs: timing.upstreamAuthMs,
        wallTime: Date.now,
      }),
    );
    const onRaised = (): void => this.#epochRaised();
    const epochs = this.#closing.use(new EpochGuard({ ...options, content, onRaised }));
    const onAdvanced = (): void => this.#announce();
    const mayWrite = (): boolean => this.#mayWrite;
    const traces = new DeliveryTraces(options.tracer);
    this.#traces = traces;
    this.#onPublished = options.onPublished;
    const common = { content, timing, clock, logger, metrics, traces, mayWrite };
    const context = { ...common, pause: () => epochs.pause };
    const advance = this.#closing.use(new PositionAdvance({ ...common, onAdvanced }));
    const upstreamAuth = this.#upstreamAuth;
    const books = { registry, tracker: this.#tracker, upstreamAuth };
    this.#fleet = new ProxyFleet({ context, ...books, epochs, advance });
    this.#endWith(leadership.signal);
  }

  get position(): SnapshotPosition {
    return this.#content.position;
  }

  get version(): string {
    return this.#content.version;
  }

  get publishedAt(): number | undefined {
    return this.#publishedAt;
  }

  get proxies(): readonly ProxyReport[] {
    const { position, history } = this.#content;
    return this.#registry.report(position, history);
  }

  get routesBefore(): number {
    return this.#fleet.routesBefore;
  }

  /** Whether proxies may connect. */
  get isOpen(): boolean {
    return this.#state === 'open' && this.#mayWrite;
  }

  publish(changes: ChangeSet, trace?: Trace): void {
    if (!this.#mayWrite) return;
    const span = trace?.span?.child('publish', 'internal');
    this.#publish(changes, span ?? trace);
    span?.set('gatehouse.snapshot.position', formatPosition(this.position));
    span?.end();
  }

  #publish(changes: ChangeSet, trace: Trace | undefined): void {
    const tooLargeBefore = this.#tooLargeOf(changes);
    const isNew = this.#content.publish(changes);
    this.#logTooLarge(this.#tooLargeOf(changes), new Set(tooLargeBefore));
    if (!isNew) return;
    this.#upstreamAuth.forget(changes.deleted);
    this.#publishedAt = Date.now();
    const { newest } = this.#content.history;
    if (newest !== undefined) {
      trace?.span?.set('gatehouse.snapshot.changes', newest.changes.size);
      this.#traces.published(newest.position.sequence, trace);
      const has = (key: string): boolean => this.#content.find(key) !== undefined;
      this.#onPublished({ ...newest, has }, trace?.context);
    }
    this.#fleet.wakeAll();
  }

  find(key: string): SnapshotResource | undefined {
    return this.#content.find(key)?.resource;
  }

  rolloutState(key: string): RolloutState | undefined {
    if (this.#content.isTooLarge(key)) return { kind: 'rejected', message: TOO_LARGE };
    return this.#tracker.rolloutState(key);
  }

  upstreamAuth(key: string): UpstreamAuthState | undefined {
    return this.#upstreamAuth.stateOf(key);
  }

  /** Sends snapshots on the stream of a proxy that is authenticated. */
  connect(stream: ServerHttp2Stream, hello: ProxyHello): void {
    this.#fleet.connect(stream, hello);
  }

  /** Asks all proxies to disconnect, and resolves when they have. Nothing is published after that. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing';
    await this.#fleet.shutDown();
    this.#end();
  }

  get #mayWrite(): boolean {
    return this.#state !== 'ended' && this.#leadership.isCurrent;
  }

  #endWith(signal: AbortSignal): void {
    const onAbort = (): void => this.#end();
    if (signal.aborted) {
      this.#end();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    this.#closing.defer(() => signal.removeEventListener('abort', onAbort));
  }

  /** Drops everything that is not sent yet: the next leader may have published already. */
  #end(): void {
    this.#state = 'ended';
    this.#closing.dispose();
    this.#changes.close();
    this.#fleet.abort();
  }

  #epochRaised(): void {
    if (this.#content.isPublished) this.#publishedAt = Date.now();
    this.#announce();
  }

  /** Reports a new position, and sends it. */
  #announce(): void {
    this.#changes.add([]);
    this.#fleet.wakeAll();
  }

  #tooLargeOf({ put }: ChangeSet): readonly string[] {
    return put.map(({ key }) => key).filter((key) => this.#content.isTooLarge(key));
  }

  /** Logs a resource once, and not at every change while it stays too large. */
  #logTooLarge(keys: readonly string[], before: ReadonlySet<string>): void {
    for (const key of keys) {
      if (!before.has(key)) this.#logger.error('resource is too large to publish', { key });
    }
  }
}
