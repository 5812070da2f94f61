import type { OutgoingHttpHeaders } from 'node:http2';

import { monotonicClock, pause, type Clock } from '../../shared/runtime/clock.ts';
import { formatAddress } from '../../shared/runtime/listen-address.ts';
import { PUSH_PROTOCOL, REPLACED } from '../../shared/snapshot/push-frames.ts';
import { isRouteKey } from '../../shared/snapshot/resource-key.ts';
import { formatPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { Tracer } from '../../shared/telemetry/tracing/tracer.ts';
import type { PlacedSnapshot } from '../store/snapshot/snapshot-keeper.ts';
import { controllerAddressOf, type DialAddress } from './connection/controller-address.ts';
import { ControllerDialer } from './connection/controller-dialer.ts';
import { ControllerLog } from './connection/controller-log.ts';
import { ControllerProblemError } from './connection/controller-problem.ts';
import { PUSH_CLIENT_TIMING, type PushClientTiming } from './connection/push-timing.ts';
import { RetryDelay } from './connection/retry-delay.ts';
import { ControllerStream, type AcceptedStream, type ProxyStatus } from './controller-stream.ts';
import type { UpstreamAuthJournal } from './upstream-auth-journal.ts';
import { SnapshotReceiver, type ApplySnapshot } from './staging/snapshot-receiver.ts';

/** Options of a `PushClient`. */
export interface PushClientOptions {
  /** `https://host:port`. */
  readonly url: string;
  /** File of the authorities (PEM) that the controller's certificate may come from. */
  readonly ca: string;
  /** File of the ServiceAccount token. */
  readonly tokenFile: string;
  /** Name of the pod. */
  readonly proxyId: string;
  /** The snapshot that serves when the client starts. */
  readonly serving?: PlacedSnapshot | undefined;
  readonly logger: Logger;
  /** What the controller is told about the upstreams of routes. */
  readonly upstreamAuth: UpstreamAuthJournal;
  readonly handlers: {
    readonly apply: ApplySnapshot;
    readonly status: () => ProxyStatus;
  };
  /** Traces how snapshots are applied; absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly timing?: Partial<PushClientTiming>;
  readonly clock?: Clock;
}

/**
 * Keeps a stream open to the leading controller until it is closed, and applies the snapshots that
 * arrive on it.
 *
 * The current snapshot serves until the next one is applied, whatever a controller sends and however
 * long no controller is there.
 */
export class PushClient {
  readonly #options: PushClientOptions;
  readonly #timing: PushClientTiming;
  readonly #clock: Clock;
  readonly #dialer: ControllerDialer;
  readonly #receiver: SnapshotReceiver;
  readonly #log: ControllerLog;
  readonly #delay = new RetryDelay();
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  /** Undefined without a connection. */
  #stream: ControllerStream | undefined;

  /** Connects at once. Throws a `TypeError` if the URL is not https. */
  constructor(options: PushClientOptions) {
    const { ca, tokenFile, serving, logger, handlers, timing, clock = monotonicClock } = options;
    const url = new URL(options.url);
    const address = controllerAddressOf(url);
    this.#options = options;
    this.#timing = { ...PUSH_CLIENT_TIMING, ...timing };
    this.#clock = clock;
    this.#dialer = new ControllerDialer({ url, ca, tokenFile }, { timing: this.#timing, clock });
    const { tracer } = options;
    this.#receiver = new SnapshotReceiver(serving, { apply: handlers.apply, logger, tracer });
    this.#log = new ControllerLog({
      logger,
      controller: formatAddress(address),
      isServing: () => this.serving !== undefined,
      now: () => clock.now(),
    });
    this.#ended = this.#connectUntilClosed(address);
  }

  /** The snapshot that serves; undefined before the first. */
  get serving(): PlacedSnapshot | undefined {
    return this.#receiver.serving;
  }

  /** Whether a stream to the leading controller is open. */
  get isConnected(): boolean {
    return this.#stream !== undefined;
  }

  /**
   * Reports to the controller at once if the proxy became ready, or not ready, or began to drain.
   */
  reportStatusChange(): void {
    this.#stream?.reportStatusChange();
  }

  /** Closes the connection, after a snapshot that is being applied. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the proxy closes'));
    await this.#ended;
  }

  async #connectUntilClosed(service: DialAddress): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const leader = await this.#connect(service);
      // One redirect only: two controllers that announce each other as leader would redirect without end.
      const next = leader === undefined ? undefined : await this.#connect(leader);
      if (leader !== undefined && next !== undefined) {
        this.#log.failed(redirectedAgain(), formatAddress(leader));
      }
      await pause(this.#clock, this.#delay.next(), signal);
    }
  }

  /**
   * Connects to an address, and stays connected until the stream ends. Resolves with the leader's
   * address if another controller leads.
   */
  async #connect(address: DialAddress): Promise<DialAddress | undefined> {
    const { signal } = this.#closing;
    try {
      const answer = await this.#dialer.dial(address, this.#hello(), signal);
      if (answer.kind === 'redirected') return answer.leader;
      if (answer.kind === 'opened') await this.#receive(answer, formatAddress(answer.from));
      else {
        const { status, reason } = answer;
        this.#log.refused({ status, reason }, formatAddress(answer.from));
      }
    } catch (error) {
      if (!signal.aborted) this.#log.failed(error, formatAddress(address));
    }
    return undefined;
  }

  #hello(): OutgoingHttpHeaders {
    const { serving } = this.#receiver;
    const hello = {
      'x-proto': PUSH_PROTOCOL,
      'x-proxy-id': this.#options.proxyId,
      'x-accepts': 'trace',
    };
    if (serving === undefined) return hello;
    const { position, snapshot } = serving;
    const keys = [...snapshot.resources.keys()];
    return {
      ...hello,
      'x-have': `${formatPosition(position)}:${snapshot.version}`,
      'x-routes': String(keys.filter(isRouteKey).length),
    };
  }

  /** Resolves when the controller says goodbye; rejects when the stream ends otherwise. */
  async #receive(open: AcceptedStream, address: string): Promise<void> {
    const begunAt = this.#clock.now();
    this.#log.connected(address);
    this.#stream = new ControllerStream(open, {
      receiver: this.#receiver,
      status: this.#options.handlers.status,
      upstreamAuth: this.#options.upstreamAuth,
      timing: this.#timing,
      clock: this.#clock,
    });
    try {
      const goodbye = await this.#stream.receive(this.#closing.signal);
      this.#delay.reset();
      if (goodbye === REPLACED) this.#waitAfterReplacement(address);
    } finally {
      this.#stream = undefined;
      if (this.#clock.now() - begunAt > this.#timing.steadyMs) this.#delay.reset();
    }
  }

  /** Prolongs the next wait: otherwise two proxies with one id would replace each other without end. */
  #waitAfterReplacement(address: string): void {
    this.#log.displaced(this.#options.proxyId, address);
    this.#delay.prolong(this.#timing.displacedMs);
  }
}

function redirectedAgain(): ControllerProblemError {
  const cause = new Error('the announced leader redirected again');
  return new ControllerProblemError('no-leader', {}, cause);
}
