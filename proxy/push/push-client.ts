import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { setTimeout as wait } from 'node:timers/promises';

import { formatAddress } from '../../shared/runtime/listen-address.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { TimeSlices } from '../../shared/runtime/time-slices.ts';
import {
  LONGEST_CONTROLLER_LINE_BYTES,
  LONGEST_PROXY_LINE_BYTES,
  PUSH_PROTOCOL,
  REPLACED,
  type ProxyFrame,
  type StatusFrame,
} from '../../shared/snapshot/push-frames.ts';
import { readLines } from '../../shared/runtime/read-lines.ts';
import { isRouteKey } from '../../shared/snapshot/resource-key.ts';
import { formatPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { PlacedSnapshot } from '../store/snapshot/snapshot-keeper.ts';
import { addressOf, type DialAddress } from './connection/controller-address.ts';
import { ControllerLog } from './connection/controller-log.ts';
import { ControllerProblemError } from './connection/controller-problem.ts';
import { Liveness } from './connection/liveness.ts';
import type { ControllerAccess } from './connection/controller-access.ts';
import { openPushStream, type HelloAnswer } from './connection/open-push-stream.ts';
import { parseControllerFrame } from './staging/parse-controller-frame.ts';
import { PUSH_CLIENT_TIMING, type PushClientTiming } from './connection/push-timing.ts';
import { RetryDelay } from './connection/retry-delay.ts';
import { SnapshotReceiver, type ApplySnapshot } from './staging/snapshot-receiver.ts';

/** How the proxy is, for the controller. */
export type ProxyStatus = Omit<StatusFrame, 't'>;

export interface FollowOptions {
  /** `https://host:port`. */
  readonly url: string;
  /** File of the authorities (PEM) that the controller's certificate may come from. */
  readonly ca: string;
  /** File of the ServiceAccount token. */
  readonly tokenFile: string;
  /** Name of the pod. */
  readonly proxyId: string;
  /** What serves already, from a time before. */
  readonly serving?: PlacedSnapshot | undefined;
  readonly logger: Logger;
  readonly handlers: {
    readonly apply: ApplySnapshot;
    readonly status: () => ProxyStatus;
  };
  readonly timing?: Partial<PushClientTiming>;
}

/** Follows the leading controller, until it is closed. */
export interface ControllerFollower {
  /** What serves; undefined before the first snapshot. */
  readonly serving: PlacedSnapshot | undefined;
  /** Whether a controller sends, or would if it had something. */
  readonly isConnected: boolean;
  /** Tells the controller how the proxy is now, if it did not know. Else it is told every ten seconds. */
  tellStatus(): void;
  /** Ends the connection. A snapshot that is being applied is waited for. */
  close(): Promise<void>;
}

/**
 * Keeps a stream open to the leading controller, and has served what comes over it.
 *
 * Nothing that a controller does, and no absence of it, ends what serves. Throws a `TypeError` for a
 * URL that is not https.
 */
export function followController(options: FollowOptions): ControllerFollower {
  return new Follower(options);
}

/** An open stream, as far as it is written to. */
interface Link {
  readonly session: ClientHttp2Session;
  readonly stream: ClientHttp2Stream;
}

class Follower implements ControllerFollower {
  readonly #options: FollowOptions;
  readonly #controller: ControllerAccess;
  readonly #timing: PushClientTiming;
  readonly #receiver: SnapshotReceiver;
  readonly #log: ControllerLog;
  readonly #delay = new RetryDelay();
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  #hedgeMs: number;
  #link: Link | undefined;
  #told = '';

  constructor(options: FollowOptions) {
    const { url, ca, tokenFile, serving, logger, handlers, timing } = options;
    this.#options = options;
    this.#controller = { url: new URL(url), ca, tokenFile };
    this.#timing = { ...PUSH_CLIENT_TIMING, ...timing };
    this.#hedgeMs = this.#timing.hedgeMs;
    this.#receiver = new SnapshotReceiver(serving, { apply: handlers.apply, logger });
    const address = addressOf(this.#controller.url);
    this.#log = new ControllerLog({
      logger,
      controller: formatAddress(address),
      isServing: () => this.serving !== undefined,
    });
    this.#ended = this.#follow(address);
  }

  get serving(): PlacedSnapshot | undefined {
    return this.#receiver.serving;
  }

  get isConnected(): boolean {
    return this.#link !== undefined;
  }

  tellStatus(): void {
    const { ready, draining } = this.#options.handlers.status();
    if (this.#told !== toldOf({ ready, draining })) this.#sendStatus();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the proxy closes'));
    await this.#ended;
  }

  async #follow(service: DialAddress): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const leader = await this.#attempt(service);
      // One hop only: two that take each other for the leader would send us to and fro.
      const next = leader === undefined ? undefined : await this.#attempt(leader);
      if (leader !== undefined && next !== undefined) {
        this.#log.failed(anotherLeads(), formatAddress(leader));
      }
      await wait(this.#delay.next(), undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Follows whoever answers at the address, to the end. Resolves with who leads if it is another. */
  async #attempt(address: DialAddress): Promise<DialAddress | undefined> {
    const { signal } = this.#closing;
    try {
      const opened = await this.#open(address);
      if (opened.kind === 'redirected') return opened.leader;
      if (opened.kind === 'opened') await this.#followLink(opened, opened.from);
      else {
        const { status, reason } = opened;
        this.#log.refused({ status, reason }, formatAddress(opened.from));
      }
    } catch (error) {
      if (!signal.aborted) this.#log.failed(error, formatAddress(address));
    }
    return undefined;
  }

  /** Where nobody answers in time, more dials do not help, and may be what keeps them from it. */
  async #open(address: DialAddress): Promise<HelloAnswer> {
    const { helloMs, hedgeMs } = this.#timing;
    const late = AbortSignal.timeout(helloMs);
    const options = { address, hello: this.#hello(), hedgeMs: this.#hedgeMs };
    this.#hedgeMs = Math.min(2 * this.#hedgeMs, helloMs);
    const opened = await openPushStream(this.#controller, {
      ...options,
      signal: AbortSignal.any([this.#closing.signal, late]),
    });
    this.#hedgeMs = hedgeMs;
    return opened;
  }

  #hello(): OutgoingHttpHeaders {
    const { serving } = this.#receiver;
    const hello = { 'x-proto': PUSH_PROTOCOL, 'x-proxy-id': this.#options.proxyId };
    if (serving === undefined) return hello;
    const { position, snapshot } = serving;
    const keys = [...snapshot.resources.keys()];
    return {
      ...hello,
      'x-have': `${formatPosition(position)}:${snapshot.version}`,
      'x-routes': String(keys.filter(isRouteKey).length),
    };
  }

  /** Resolves when the controller says goodbye, and rejects when the stream ends otherwise. */
  async #followLink(link: Link, address: DialAddress): Promise<void> {
    const begunAt = performance.now();
    this.#link = link;
    this.#log.connected(formatAddress(address));
    const end = (reason: string): void => void link.stream.destroy(new Error(reason));
    const stop = (): void => end('the proxy closes');
    this.#closing.signal.addEventListener('abort', stop);
    const status = setInterval(() => this.#sendStatus(), this.#timing.statusMs);
    using liveness = new Liveness(link.session, this.#timing, () => {
      end('the controller does not answer');
    });
    try {
      this.#sendStatus();
      const goodbye = await this.#receive(link, liveness);
      this.#delay.reset();
      if (goodbye === REPLACED) this.#giveWay(address);
    } finally {
      if (performance.now() - begunAt > this.#timing.steadyMs) this.#delay.reset();
      clearInterval(status);
      this.#closing.signal.removeEventListener('abort', stop);
      this.#link = undefined;
      this.#receiver.reset();
      link.session.destroy();
    }
  }

  /** Two proxies with one id would else take the place of each other without end. */
  #giveWay(address: DialAddress): void {
    this.#log.displaced(this.#options.proxyId, formatAddress(address));
    this.#delay.prolong(this.#timing.displacedMs);
  }

  /** Resolves with the reason of the goodbye. */
  async #receive(link: Link, liveness: Liveness): Promise<string> {
    const slices = new TimeSlices();
    for await (const line of readLines(link.stream, LONGEST_CONTROLLER_LINE_BYTES)) {
      liveness.heard();
      const frame = parseControllerFrame(line);
      if (frame.t === 'goaway') return frame.reason;
      if (frame.t === 'ping') this.#send({ t: 'pong' });
      else {
        const answer = await this.#receiver.take(frame, line.length);
        if (answer !== undefined) this.#send(answer);
      }
      await slices.pause();
    }
    throw new Error('the controller ended the stream');
  }

  #sendStatus(): void {
    if (this.#link === undefined) return;
    const status = this.#options.handlers.status();
    this.#told = toldOf(status);
    this.#send({ t: 'status', ...status });
  }

  #send(frame: ProxyFrame): void {
    const stream = this.#link?.stream;
    if (!stream?.writable) return;
    stream.write(`${JSON.stringify(frame)}\n`);
    if (stream.writableLength > 2 * LONGEST_PROXY_LINE_BYTES) {
      stream.destroy(new Error('the controller does not read'));
    }
  }
}

function anotherLeads(): ControllerProblemError {
  const cause = new Error('who is said to lead says that another one leads');
  return new ControllerProblemError('no-leader', {}, cause);
}

/** What of the status the controller learns of at once. */
function toldOf({ ready, draining }: Omit<ProxyStatus, 'conns'>): string {
  return `${String(ready)} ${String(draining)}`;
}
