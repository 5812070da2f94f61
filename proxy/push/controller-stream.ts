import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';

import { every, type Clock } from '../../shared/runtime/clock.ts';
import { readLines } from '../../shared/runtime/read-lines.ts';
import { TimeSlices } from '../../shared/runtime/time-slices.ts';
import {
  LONGEST_CONTROLLER_LINE_BYTES,
  LONGEST_PROXY_LINE_BYTES,
  type ProxyFrame,
  type StatusFrame,
} from '../../shared/snapshot/push-frames.ts';
import { Liveness } from './connection/liveness.ts';
import type { PushClientTiming } from './connection/push-timing.ts';
import { parseControllerFrame } from './staging/parse-controller-frame.ts';
import type { SnapshotReceiver } from './staging/snapshot-receiver.ts';
import type { UpstreamAuthJournal } from './upstream-auth-journal.ts';

/** Status of the proxy, as it is reported to the controller. */
export type ProxyStatus = Omit<StatusFrame, 't' | 'upstreamAuth'>;

/** A stream that the leading controller accepted, and its connection. */
export interface AcceptedStream {
  readonly session: ClientHttp2Session;
  readonly stream: ClientHttp2Stream;
}

/** Options of a `ControllerStream`. */
export interface ControllerStreamOptions {
  readonly receiver: SnapshotReceiver;
  readonly status: () => ProxyStatus;
  readonly upstreamAuth: UpstreamAuthJournal;
  readonly timing: PushClientTiming;
  readonly clock: Clock;
}

/** Exchanges frames with the leading controller over one stream. */
export class ControllerStream {
  readonly #open: AcceptedStream;
  readonly #options: ControllerStreamOptions;
  /** The readiness and draining that were last reported. */
  #reported = '';
  /** What of the journal is sent. */
  #journalPosition = 0;

  constructor(open: AcceptedStream, options: ControllerStreamOptions) {
    this.#open = open;
    this.#options = options;
  }

  /**
   * Receives until the controller says goodbye, and resolves with its reason. Rejects when the
   * stream ends otherwise. Closes the connection in the end.
   */
  async receive(signal: AbortSignal): Promise<string> {
    const { receiver, timing, clock } = this.#options;
    const { session } = this.#open;
    const close = (): void => this.#destroy('the proxy closes');
    signal.addEventListener('abort', close);
    const status = every(clock, timing.statusMs, () => this.#reportStatus());
    using liveness = new Liveness(session, {
      timing,
      clock,
      onSilence: () => this.#destroy('the controller does not answer'),
    });
    try {
      this.#reportStatus();
      return await this.#receiveFrames(liveness);
    } finally {
      status[Symbol.dispose]();
      signal.removeEventListener('abort', close);
      receiver.reset();
      session.destroy();
    }
  }

  /** Reports the status if readiness or draining changed since the last report. */
  reportStatusChange(): void {
    if (this.#reported !== urgentPartOf(this.#options.status())) this.#reportStatus();
  }

  async #receiveFrames(liveness: Liveness): Promise<string> {
    const slices = new TimeSlices();
    for await (const line of readLines(this.#open.stream, LONGEST_CONTROLLER_LINE_BYTES)) {
      liveness.heard();
      const frame = parseControllerFrame(line);
      if (frame.t === 'goaway') return frame.reason;
      if (frame.t === 'ping') this.#send({ t: 'pong' });
      else {
        const answer = await this.#options.receiver.receive(frame, line.length);
        if (answer !== undefined) this.#send(answer);
      }
      await slices.pause();
    }
    throw new Error('the controller ended the stream');
  }

  #reportStatus(): void {
    const status = this.#options.status();
    this.#reported = urgentPartOf(status);
    const { reports, position } = this.#options.upstreamAuth.after(this.#journalPosition);
    this.#journalPosition = position;
    this.#send({ t: 'status', ...status, ...(reports.length > 0 && { upstreamAuth: reports }) });
  }

  #send(frame: ProxyFrame): void {
    const { stream } = this.#open;
    if (!stream.writable) return;
    stream.write(`${JSON.stringify(frame)}\n`);
    if (stream.writableLength > 2 * LONGEST_PROXY_LINE_BYTES) {
      this.#destroy('the controller does not read');
    }
  }

  #destroy(reason: string): void {
    this.#open.stream.destroy(new Error(reason));
  }
}

/** Returns the part of the status that is reported as soon as it changes. */
function urgentPartOf({ ready, draining }: ProxyStatus): string {
  return `${String(ready)} ${String(draining)}`;
}
