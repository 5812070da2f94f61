import type { ServerHttp2Stream } from 'node:http2';

import type { Logger } from '../../shared/telemetry/logger.ts';
import {
  LONGEST_CONTROLLER_LINE_BYTES,
  type StatusFrame,
} from '../../shared/snapshot/push-frames.ts';
import { isServiceKey } from '../../shared/snapshot/resource-key.ts';
import { parsePosition, type SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { ChangeSet } from '../compile/change-set.ts';
import type { Leadership } from '../leader/leadership.ts';
import { ChangeNotifier } from './change-notifier.ts';
import { EpochGuard } from './epoch-guard.ts';
import { LogLimit } from './log-limit.ts';
import { arrivalOf } from './session/proxy-arrival.ts';
import type { ProxyHello } from './session/proxy-hello.ts';
import { ProxyRegistry, type ProxyRecord, type Refused } from './session/proxy-registry.ts';
import {
  ProxySession,
  type Answer,
  type Offered,
  type SessionHost,
  type SessionProxy,
} from './session/proxy-session.ts';
import type { OnPublicationChange, RolloutState, ProxyReport, Publication } from './publication.ts';
import { PublishedContent } from './content/published-content.ts';
import type { PublishedResource } from './content/published-resource.ts';
import type { PushTiming } from './push-timing.ts';

/** So many of the resources that a proxy refuses are named in the log. */
const NAMED_KEYS = 20;
/** Two proxies that have one id take turns without end. */
const REPLACED_LOG_MS = 60_000;

export interface LeadershipPublicationOptions {
  readonly leadership: Leadership;
  readonly onChange: OnPublicationChange;
  readonly timing: PushTiming;
  readonly logger: Logger;
}

const TOO_LARGE = `It comes to more than ${String(LONGEST_CONTROLLER_LINE_BYTES)} bytes, too large for proxies.`;

/** What one leadership publishes, to whom, and what they made of it. */
export class LeadershipPublication implements Publication, SessionHost, AsyncDisposable {
  readonly content: PublishedContent;
  readonly timing: PushTiming;
  readonly logger: Logger;
  readonly #leadership: Leadership;
  readonly #changes: ChangeNotifier;
  readonly #epochs: EpochGuard;
  readonly #registry: ProxyRegistry;
  readonly #sessions = new Map<string, ProxySession>();
  readonly #leaving = new Map<string, NodeJS.Timeout>();
  readonly #replacedLog = new LogLimit(REPLACED_LOG_MS);
  readonly #onAbort = (): void => this.#end();
  #isEnded = false;
  #slowest: number | undefined;
  /** The place of the newest snapshot is to be a later one. */
  #advance: NodeJS.Timeout | undefined;
  #publishedAt: number | undefined;
  #routesBefore = 0;
  #isClosing = false;
  #whenEmpty: (() => void) | undefined;

  constructor({ leadership, onChange, timing, logger }: LeadershipPublicationOptions) {
    this.timing = timing;
    this.logger = logger;
    this.#leadership = leadership;
    this.#changes = new ChangeNotifier(onChange);
    this.#registry = new ProxyRegistry(timing);
    this.content = new PublishedContent(leadership.epoch);
    this.#epochs = new EpochGuard({
      leadership,
      content: this.content,
      timing,
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

  publish({ put, deleted }: ChangeSet): void {
    if (!this.mayWrite()) return;
    const before = put.filter(({ key }) => this.content.isTooLarge(key)).map(({ key }) => key);
    const isNew = this.content.publish({ put, deleted });
    this.#logTooLarge(put, new Set(before));
    if (!isNew) return;
    this.#publishedAt = Date.now();
    this.#wakeAll();
  }

  find(key: string): SnapshotResource | undefined {
    return this.content.find(key)?.resource;
  }

  rolloutState(key: string): RolloutState | undefined {
    if (this.content.isTooLarge(key)) return { kind: 'rejected', message: TOO_LARGE };
    const published = this.content.find(key);
    if (published === undefined) return undefined;
    const refused = this.#refusalOf(published);
    if (refused !== undefined) return { kind: 'rejected', ...refused };
    if (this.#slowest === undefined) return { kind: 'no-proxies' };
    const { since } = published;
    if (this.#hasAll(since)) return { kind: 'programmed' };
    return { kind: 'pending', ...this.#registry.count(since) };
  }

  /** Takes a stream whose proxy has proved who it is. */
  attach(stream: ServerHttp2Stream, hello: ProxyHello): void {
    const { proxyId: id, routes } = hello;
    const before = this.#sessions.get(id);
    before?.replace();
    clearTimeout(this.#leaving.get(id));
    this.#leaving.delete(id);
    const record = this.#registry.enter(id);
    const session = new ProxySession(this, stream, this.#enter(record, hello));
    record.refusals.watch(() => this.#sendAgain(session));
    this.#sessions.set(id, session);
    if (before === undefined) this.logger.info('proxy connected', { proxy: id, routes });
    else this.#logReplaced(id);
    session.wake();
  }

  /** One that was cut off may be back before that is noticed; else another one has its id. */
  #logReplaced(id: string): void {
    if (!this.#replacedLog.take(id)) return;
    this.logger.warn('proxy connected while a proxy with its id was', { proxy: id });
  }

  offered(session: ProxySession, { position, sent }: Offered): void {
    const record = this.#recordOf(session);
    if (record === undefined) return;
    this.content.history.addVariant(position, sent.version);
    record.sent = [...record.sent.slice(0, 1), sent];
  }

  answered(session: ProxySession, answer: Answer): boolean {
    const record = this.#recordOf(session);
    if (record === undefined) return false;
    return answer.kind === 'acknowledged'
      ? this.#takeAck(record, session, answer)
      : this.#takeNack(record, answer);
  }

  statusChanged(session: ProxySession, { ready, draining }: StatusFrame): void {
    const record = this.#recordOf(session);
    if (record === undefined) return;
    if (record.isReady === ready && record.isDraining === draining) return;
    this.#track(() => {
      record.isReady = ready;
      record.isDraining = draining;
    });
    this.#tellOf(record.refusals.keys);
  }

  slownessChanged(session: ProxySession, isSlow: boolean): void {
    const record = this.#recordOf(session);
    if (record === undefined) return;
    this.#track(() => {
      record.isSlow = isSlow;
      record.isBehind ||= isSlow && record.hasForeign;
    });
    this.#changes.add(isSlow ? this.#keysAfter(record) : []);
  }

  closed(session: ProxySession): void {
    const { id } = session;
    if (this.#sessions.get(id) !== session) return;
    this.#sessions.delete(id);
    if (this.#sessions.size === 0) this.#whenEmpty?.();
    if (this.#isEnded) return;
    const record = this.#registry.enter(id);
    record.isConnected = false;
    record.refusals.pause();
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
    this.#epochs.close();
    this.#registry.close();
    clearTimeout(this.#advance);
    for (const session of this.#sessions.values()) session.abort();
    for (const timer of this.#leaving.values()) clearTimeout(timer);
    this.#leaving.clear();
  }

  /** Once, and not with every change of something that stays too large. */
  #logTooLarge(put: readonly SnapshotResource[], before: ReadonlySet<string>): void {
    for (const { key } of put) {
      if (!this.content.isTooLarge(key) || before.has(key)) continue;
      this.logger.error('resource is too large for proxies, others go on without it', { key });
    }
  }

  #forget(id: string): void {
    this.#leaving.delete(id);
    this.logger.info('proxy does not count any more', { proxy: id });
    const { keys } = this.#registry.enter(id).refusals;
    this.#track(() => this.#registry.remove(id));
    this.#tellOf(keys);
  }

  /** Notes what a proxy comes with. */
  #enter(record: ProxyRecord, { proxyId: id, have, routes }: ProxyHello): SessionProxy {
    const { refusals } = record;
    const arrival = arrivalOf(have, record.sent, this.content.history);
    const { kind } = arrival;
    const isOurs = kind === 'revision' || kind === 'own';
    if (kind === 'foreign') {
      this.#routesBefore = Math.max(this.#routesBefore, routes);
      this.#epochs.heed(id, arrival.position);
    }
    // The newest must have a later place for this one.
    if (kind === 'borrowed') this.#advanceSoon();
    const refused = refusals.keys;
    if (kind !== 'own') refusals.clear();
    this.#track(() => {
      record.isConnected = true;
      record.isDraining = false;
      record.isSlow = false;
      record.hasForeign = kind === 'foreign' || kind === 'borrowed';
      record.isBehind &&= record.hasForeign;
      record.acknowledged = isOurs ? arrival.position : undefined;
      record.sent = isOurs ? [arrival.base] : [];
      record.errors = refusals.errors;
    });
    this.#tellOf(refused);
    if (kind === 'nothing') return { id, base: undefined, answered: 0, refusals };
    const answered = kind === 'foreign' ? 0 : arrival.position.sequence;
    return { id, base: arrival.base, answered, refusals };
  }

  #takeAck(record: ProxyRecord, session: ProxySession, { position, sent }: Offered): boolean {
    const { refusals } = record;
    const taken = refusals.acknowledged(sent);
    this.#track(() => {
      record.hasForeign = false;
      record.isBehind = false;
      record.errors = refusals.errors;
      record.acknowledged = position;
      record.sent = [sent];
    });
    this.#tellOf(taken);
    // It became due while this was under way.
    if (refusals.isDue) this.#sendAgain(session);
    return true;
  }

  /** Whether the newest snapshot may be sent to the proxy at once. */
  #takeNack(record: ProxyRecord, { position, sent, nack }: Answer & { kind: 'refused' }): boolean {
    const { id: proxy, refusals } = record;
    const { rejected: errors } = nack;
    this.#track(() => {
      record.errors = errors;
      record.isBehind = record.hasForeign;
    });
    const stale = errors.find(({ reason }) => reason === 'StalePosition');
    if (stale !== undefined) {
      const place = parsePosition(stale.message);
      const isRaised = place !== undefined && this.#epochs.heed(proxy, place);
      return isRaised || this.content.position.sequence > position.sequence;
    }
    const keys = refusals.refused(errors, sent, this.content);
    if (keys.length === 0) return false;
    this.#tellOf(keys);
    const some = keys.slice(0, NAMED_KEYS);
    const fields = { proxy, resources: keys.length, keys: some, detail: errors[0]?.message };
    this.logger.error('proxy refuses resources, and goes on with what it has of them', fields);
    return true;
  }

  /** Sends a proxy what it refused: in a later place if it has something else in this one. */
  #sendAgain(session: ProxySession): void {
    if (session.isUpToDate) this.#advanceSoon();
    else session.wake();
  }

  /** Costs every proxy a word, and so comes for many at once. */
  #advanceSoon(): void {
    if (this.#isEnded) return;
    const { sequence } = this.content.position;
    this.#advance ??= setTimeout(() => {
      this.#advance = undefined;
      if (!this.mayWrite() || this.content.position.sequence !== sequence) return;
      this.content.advance();
      this.#wakeAll();
      this.#changes.add([]);
    }, this.timing.retryMs);
  }

  #refusalOf({ resource, serviceKeys }: PublishedResource): Refused | undefined {
    const refused = this.#registry.refusalOf(resource.key, resource.hash);
    if (refused !== undefined) return refused;
    for (const key of serviceKeys) {
      const service = this.content.find(key)?.resource;
      const ofService = service && this.#registry.refusalOf(key, service.hash);
      if (ofService !== undefined) return ofService;
    }
    return undefined;
  }

  /** What of them, or of the routes that depend on them, a proxy refuses may be another. */
  #tellOf(keys: readonly string[]): void {
    if (keys.length === 0) return;
    const services = keys.filter(isServiceKey);
    this.#changes.add(keys);
    for (const key of services) this.#changes.add(this.content.routesTo(key));
  }

  /** undefined: the proxy has opened another stream. */
  #recordOf(session: ProxySession): ProxyRecord | undefined {
    const { id } = session;
    return this.#sessions.get(id) === session ? this.#registry.enter(id) : undefined;
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

  /** Changes what is known of the proxies, and tells whose rollout state changes by it. */
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
