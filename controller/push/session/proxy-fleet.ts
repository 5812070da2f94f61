import type { ServerHttp2Stream } from 'node:http2';

import type { StatusFrame } from '../../../shared/snapshot/push-frames.ts';
import { parsePosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { PositionAdvance } from '../content/position-advance.ts';
import type { EpochGuard } from '../epoch-guard.ts';
import type { RolloutTracker } from '../rollout-tracker.ts';
import type { UpstreamAuthBook } from '../upstream-auth-book.ts';
import { arrivalOf } from './proxy-arrival.ts';
import type { ProxyHello } from './proxy-hello.ts';
import type { ProxyRecord } from './proxy-record.ts';
import type { ProxyRegistry } from './proxy-registry.ts';
import {
  ProxySession,
  type Answer,
  type SessionContext,
  type SessionObserver,
  type SessionProxy,
} from './proxy-session.ts';
import { ProxySessions } from './proxy-sessions.ts';
import type { Offered } from './snapshot-offer.ts';

/** The most rejected resources that one log line names. */
const MAX_LOGGED_KEYS = 20;
const MS_PER_SECOND = 1000;

/** Options of a fleet. */
export interface ProxyFleetOptions {
  readonly context: SessionContext;
  readonly registry: ProxyRegistry;
  readonly tracker: RolloutTracker;
  readonly upstreamAuth: UpstreamAuthBook;
  readonly epochs: EpochGuard;
  readonly advance: PositionAdvance;
}

/** The proxies of one leadership: sends them the snapshots, and records their answers. */
export class ProxyFleet implements SessionObserver {
  readonly #options: ProxyFleetOptions;
  readonly #sessions: ProxySessions;
  #isClosed = false;
  #routesBefore = 0;

  constructor(options: ProxyFleetOptions) {
    this.#options = options;
    const { context } = options;
    this.#sessions = new ProxySessions({ ...context, onLeft: (id) => this.#left(id) });
  }

  /** The highest number of routes that a proxy reported for a snapshot of another leadership. */
  get routesBefore(): number {
    return this.#routesBefore;
  }

  /** Opens a session on the stream of a proxy that is authenticated. */
  connect(stream: ServerHttp2Stream, hello: ProxyHello): void {
    const { context, registry } = this.#options;
    const { proxyId: id, routes } = hello;
    this.#sessions.replace(id);
    const record = registry.recordOf(id);
    const proxy = this.#recordArrival(record, hello);
    const session = new ProxySession({ context, observer: this, stream, proxy });
    record.rejections.resume(() => this.#retryRejected(session));
    this.#sessions.add(session, { routes });
    session.wake();
  }

  offered(session: ProxySession, offered: Offered): void {
    const record = this.#recordOf(session);
    if (record === undefined) return;
    const { history } = this.#options.context.content;
    history.addVariant(offered.position, offered.sent.version);
    record.offer(offered);
  }

  answered(session: ProxySession, answer: Answer): boolean {
    const record = this.#recordOf(session);
    if (record === undefined) return false;
    if (answer.kind === 'rejected') return this.#rejected(record, answer);
    this.#acknowledged(record, answer.offered);
    // A retry may have become due while the snapshot was under way.
    if (record.rejections.isRetryDue) this.#retryRejected(session);
    return true;
  }

  statusChanged(session: ProxySession, status: StatusFrame): void {
    const { context, upstreamAuth } = this.#options;
    const reports = status.upstreamAuth ?? [];
    upstreamAuth.receive(reports);
    for (const { failure } of reports) {
      context.metrics.upstreamAuthReported(failure === undefined ? 'ready' : 'failed');
    }
    const record = this.#recordOf(session);
    if (record?.isChangedBy(status) !== true) return;
    const { tracker } = this.#options;
    tracker.track(() => record.setStatus(status));
    tracker.mark(record.rejections.keys);
  }

  slownessChanged(session: ProxySession, isSlow: boolean): void {
    const record = this.#recordOf(session);
    if (record === undefined) return;
    const { tracker } = this.#options;
    tracker.track(() => record.setSlow(isSlow));
    if (isSlow) tracker.markUnacknowledged(record);
  }

  closed(session: ProxySession): void {
    const record = this.#recordOf(session);
    if (record === undefined) return;
    this.#sessions.remove(session);
    if (this.#isClosed) return;
    this.#options.tracker.track(() => record.disconnect());
  }

  /** Sends the newest snapshot to every proxy that is ready for it. */
  wakeAll(): void {
    this.#sessions.wakeAll();
  }

  /** Asks all proxies to disconnect, and resolves when they have. */
  async shutDown(): Promise<void> {
    await this.#sessions.endAll('shutdown');
  }

  /** Drops all connections at once. */
  abort(): void {
    this.#isClosed = true;
    this.#options.registry.close();
    this.#sessions.abortAll();
  }

  /** The record of a proxy; undefined if the proxy has opened another session. */
  #recordOf(session: ProxySession): ProxyRecord | undefined {
    return this.#sessions.isCurrent(session)
      ? this.#options.registry.recordOf(session.id)
      : undefined;
  }

  #recordArrival(record: ProxyRecord, hello: ProxyHello): SessionProxy {
    const { proxyId: id, have, routes, acceptsTrace } = hello;
    const { context, tracker, epochs, advance } = this.#options;
    const arrival = arrivalOf(have, record.sent, context.content.history);
    if (arrival.kind === 'foreign') {
      this.#routesBefore = Math.max(this.#routesBefore, routes);
      epochs.claim(id, arrival.position);
    }
    // The content of this proxy at the newest position differs.
    if (arrival.kind === 'borrowed') advance.request();
    const { rejections } = record;
    const rejectedBefore = rejections.keys;
    tracker.track(() => record.connect(arrival));
    tracker.mark(rejectedBefore);
    if (arrival.kind === 'nothing') {
      return { id, serving: { base: undefined, sequence: 0 }, rejections, acceptsTrace };
    }
    const sequence = arrival.kind === 'foreign' ? 0 : arrival.position.sequence;
    return { id, serving: { base: arrival.base, sequence }, rejections, acceptsTrace };
  }

  #acknowledged(record: ProxyRecord, offered: Offered): void {
    const { context, tracker } = this.#options;
    context.metrics.acknowledged(record.lagMs(context.content.history) / MS_PER_SECOND);
    const accepted = record.rejections.acknowledge(offered.sent);
    tracker.track(() => record.acknowledge(offered));
    tracker.mark(accepted);
  }

  /** Returns whether the newest snapshot may be sent to the proxy at once. */
  #rejected(
    record: ProxyRecord,
    { offered, nack: { rejected } }: Extract<Answer, { kind: 'rejected' }>,
  ): boolean {
    const { context, tracker, epochs } = this.#options;
    const { content } = context;
    tracker.track(() => record.reject(rejected));
    context.metrics.rejected(rejected[0]?.reason ?? 'none');
    const stale = rejected.find(({ reason }) => reason === 'StalePosition');
    if (stale !== undefined) {
      const position = parsePosition(stale.message);
      const isRaised = position !== undefined && epochs.claim(record.id, position);
      return isRaised || content.position.sequence > offered.position.sequence;
    }
    const keys = record.rejections.reject(rejected, offered.sent, content);
    if (keys.length === 0) return false;
    tracker.mark(keys);
    context.logger.error('proxy rejects resources, and keeps serving what it had', {
      proxy: record.id,
      resources: keys.length,
      keys: keys.slice(0, MAX_LOGGED_KEYS),
      detail: rejected[0]?.message,
    });
    return true;
  }

  /** Sends rejected resources again, at a later position if the proxy acknowledged the newest one. */
  #retryRejected(session: ProxySession): void {
    if (session.isUpToDate) this.#options.advance.request();
    else session.wake();
  }

  #left(id: string): void {
    const { context, registry, tracker } = this.#options;
    context.logger.info('proxy left', { proxy: id });
    const { keys } = registry.recordOf(id).rejections;
    tracker.track(() => registry.remove(id));
    tracker.mark(keys);
  }
}
