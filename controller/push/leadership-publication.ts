import type { ServerHttp2Stream } from 'node:http2';

import type { Logger } from '../../shared/process/logger.ts';
import type { NackFrame, StatusFrame } from '../../shared/snapshot/push-frames.ts';
import { parsePosition, type SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { Leadership } from '../leader/leadership.ts';
import { ChangeNotifier } from './change-notifier.ts';
import { EpochGuard } from './epoch-guard.ts';
import type { ProxyHello } from './proxy-hello.ts';
import { ProxyRegistry, type ProxyRecord } from './proxy-registry.ts';
import { ProxySession, type Answer, type SessionHost } from './proxy-session.ts';
import type { OnPublicationChange, Programming, ProxyReport, Publication } from './publication.ts';
import { PublishedContent } from './published-content.ts';
import type { PushTiming } from './push-timing.ts';

export interface LeadershipPublicationOptions {
  readonly leadership: Leadership;
  readonly onChange: OnPublicationChange;
  readonly timing: PushTiming;
  readonly logger: Logger;
}

/** What one leadership publishes, to whom, and what they made of it. */
export class LeadershipPublication implements Publication, SessionHost, AsyncDisposable {
  readonly content: PublishedContent;
  readonly timing: PushTiming;
  readonly logger: Logger;
  readonly #leadership: Leadership;
  readonly #changes: ChangeNotifier;
  readonly #epochs: EpochGuard;
  readonly #registry = new ProxyRegistry();
  readonly #sessions = new Map<string, ProxySession>();
  readonly #leaving = new Map<string, NodeJS.Timeout>();
  readonly #onAbort = (): void => this.#end();
  #isEnded = false;
  #slowest: number | undefined;
  #publishedAt: number | undefined;
  #routesBefore = 0;
  #isClosing = false;
  #whenEmpty: (() => void) | undefined;

  constructor({ leadership, onChange, timing, logger }: LeadershipPublicationOptions) {
    this.timing = timing;
    this.logger = logger;
    this.#leadership = leadership;
    this.#changes = new ChangeNotifier(onChange);
    this.content = new PublishedContent(leadership.epoch, (sequence) => this.#hasAll(sequence));
    this.#epochs = new EpochGuard({
      leadership,
      content: this.content,
      retryMs: timing.retryMs,
      logger,
      onRaised: () => this.#raised(),
    });
    if (leadership.signal.aborted) this.#end();
    else leadership.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  get position(): SnapshotPosition {
    return this.content.position;
  }

  get version(): string {
    return this.content.version;
  }

  get publishedAt(): number | undefined {
    return this.#publishedAt;
  }

  get proxies(): readonly ProxyReport[] {
    return this.#registry.report(this.content.position);
  }

  get routesBefore(): number {
    return this.#routesBefore;
  }

  get pause(): Promise<void> | undefined {
    return this.#epochs.pause;
  }

  /** Whether it takes streams. */
  get isOpen(): boolean {
    return this.mayWrite() && !this.#isClosing;
  }

  mayWrite(): boolean {
    return !this.#isEnded && this.#leadership.isCurrent;
  }

  publish({ put, deleted }: Parameters<Publication['publish']>[0]): void {
    if (!this.mayWrite() || !this.content.publish(put, deleted)) return;
    this.#publishedAt = Date.now();
    this.#wakeAll();
  }

  programming(key: string): Programming | undefined {
    const found = this.content.find(key);
    if (found === undefined) return undefined;
    const [refusal] = found.rejection?.messages ?? [];
    if (refusal !== undefined) {
      const [proxy, message] = refusal;
      return { kind: 'rejected', proxy, message };
    }
    if (this.#slowest === undefined) return { kind: 'no-proxies' };
    const since = found.published?.since ?? Infinity;
    if (this.#hasAll(since)) return { kind: 'programmed' };
    return { kind: 'pending', ...this.#registry.count(since) };
  }

  /** Takes a stream whose proxy has proved who it is. */
  attach(stream: ServerHttp2Stream, { proxyId: id, have, routes }: ProxyHello): void {
    const isOurs = have !== undefined && this.content.history.isOurs(have.position, have.version);
    if (!isOurs) this.#routesBefore = Math.max(this.#routesBefore, routes);
    if (have !== undefined && !isOurs) this.#epochs.heed(id, have.position);
    this.#sessions.get(id)?.replace();
    clearTimeout(this.#leaving.get(id));
    this.#leaving.delete(id);
    const record = this.#registry.enter(id);
    this.#track(() => {
      record.isConnected = true;
      record.isDraining = false;
      record.isSlow = false;
      record.acknowledged = isOurs ? have.position : undefined;
    });
    const answered = isOurs ? have.position.sequence : 0;
    const session = new ProxySession(this, stream, { id, base: have?.version, answered });
    this.#sessions.set(id, session);
    this.logger.info('proxy connected', { proxy: id, routes });
    session.wake();
  }

  answered(session: ProxySession, answer: Answer): boolean {
    const { id } = session;
    if (this.#sessions.get(id) !== session) return false;
    const record = this.#registry.enter(id);
    if (answer.kind === 'acknowledged') {
      this.#track(() => {
        record.errors = [];
        record.acknowledged = answer.position;
      });
      return true;
    }
    record.errors = answer.nack.errors;
    this.#changes.add([]);
    return this.#heedNack(id, answer.nack);
  }

  statusChanged(session: ProxySession, { ready, draining }: StatusFrame): void {
    const { id } = session;
    if (this.#sessions.get(id) !== session) return;
    const record = this.#registry.enter(id);
    if (record.isReady === ready && record.isDraining === draining) return;
    this.#track(() => {
      record.isReady = ready;
      record.isDraining = draining;
    });
  }

  slownessChanged(session: ProxySession, isSlow: boolean): void {
    const { id } = session;
    if (this.#sessions.get(id) !== session) return;
    const record = this.#registry.enter(id);
    record.isSlow = isSlow;
    this.#changes.add(isSlow ? this.#keysAfter(record) : []);
  }

  closed(session: ProxySession): void {
    const { id } = session;
    if (this.#sessions.get(id) !== session) return;
    this.#sessions.delete(id);
    if (this.#sessions.size === 0) this.#whenEmpty?.();
    if (this.#isEnded) return;
    this.#registry.enter(id).isConnected = false;
    this.#changes.add([]);
    const timer = setTimeout(() => this.#forget(id), this.timing.leaveMs);
    this.#leaving.set(id, timer);
  }

  /** Asks all proxies to go, and resolves when they are gone. Nothing is published any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#isClosing = true;
    this.#whenEmpty = () => resolve(undefined);
    if (this.#sessions.size === 0) resolve(undefined);
    for (const session of this.#sessions.values()) session.end('shutdown');
    await promise;
    this.#end();
  }

  /** Not another byte goes out: who leads now may have published already. */
  #end(): void {
    this.#isEnded = true;
    this.#leadership.signal.removeEventListener('abort', this.#onAbort);
    this.#changes.close();
    for (const session of this.#sessions.values()) session.abort();
    for (const timer of this.#leaving.values()) clearTimeout(timer);
    this.#leaving.clear();
  }

  #forget(id: string): void {
    this.#leaving.delete(id);
    this.logger.info('proxy does not count any more', { proxy: id });
    this.#track(() => this.#registry.remove(id));
    const retried = this.content.retryWithout(id);
    if (retried.length === 0) return;
    this.#changes.add(retried);
    this.#wakeAll();
  }

  /** Whether the newest snapshot may be sent to the proxy at once. */
  #heedNack(proxy: string, { seq: sequence, errors }: NackFrame): boolean {
    const stale = errors.find(({ reason }) => reason === 'StalePosition');
    if (stale !== undefined) {
      const position = parsePosition(stale.message);
      const isRaised = position !== undefined && this.#epochs.heed(proxy, position);
      return isRaised || this.content.position.sequence > sequence;
    }
    const messages = new Map<string, string>();
    for (const { k, reason, message } of errors) {
      if (reason === 'InvalidResource') messages.set(k, message);
    }
    const count = this.content.withhold({ proxy, sequence, messages });
    if (count === 0) return false;
    this.#changes.add(messages.keys());
    this.logger.error('proxy refuses resources, others go on without them', {
      proxy,
      keys: [...messages.keys()],
    });
    this.#wakeAll();
    return true;
  }

  #raised(): void {
    if (this.content.isPublished) this.#publishedAt = Date.now();
    this.#changes.add([]);
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const session of this.#sessions.values()) session.wake();
  }

  #hasAll(sequence: number): boolean {
    return this.#slowest !== undefined && this.#slowest >= sequence;
  }

  /** Changes what is known of the proxies, and tells whose programming changes by it. */
  #track(change: () => void): void {
    const before = this.#slowest;
    change();
    const after = this.#registry.slowest;
    this.#slowest = after;
    if (before === after) this.#changes.add([]);
    else if (before === undefined || after === undefined) this.#changes.add('all');
    else this.#changes.add(this.#keysBetween(before, after));
  }

  #keysBetween(one: number, other: number): ReadonlySet<string> | 'all' {
    return this.content.history.keysBetween(Math.min(one, other), Math.max(one, other));
  }

  #keysAfter({ acknowledged }: ProxyRecord): ReadonlySet<string> | 'all' {
    return this.#keysBetween(acknowledged?.sequence ?? 0, this.content.position.sequence);
  }
}
