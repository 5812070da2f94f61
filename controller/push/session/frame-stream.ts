import { once } from 'node:events';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { setImmediate } from 'node:timers/promises';

import {
  LONGEST_PROXY_LINE_BYTES,
  type ControllerFrame,
  type ProxyFrame,
} from '../../../shared/snapshot/push-frames.ts';
import {
  LineEncodingError,
  LineTooLongError,
  readLines,
} from '../../../shared/runtime/read-lines.ts';
import { parseProxyFrame } from './parse-proxy-frame.ts';

/** Options of a frame stream. */
export interface FrameStreamOptions {
  readonly stream: ServerHttp2Stream;
  /** Whether this controller still leads: checked right before every write. */
  readonly mayWrite: () => boolean;
  readonly onFrame: (frame: ProxyFrame) => void;
  /** Called when the proxy sent a line that is not a frame, before the stream is closed. */
  readonly onViolation: () => void;
  /** Called when `onFrame` threw. Nothing more is read. */
  readonly onFailure: (error: unknown) => void;
  /** The stream is closed, by either side. */
  readonly onClose: () => void;
}

/** Reads and writes frames on an HTTP/2 stream. Writes only while this controller leads. */
export class FrameStream {
  readonly #options: FrameStreamOptions;

  constructor(options: FrameStreamOptions) {
    this.#options = options;
    const { stream, onClose } = options;
    // Every error is followed by `close`.
    stream.on('error', () => undefined);
    stream.once('close', onClose);
    this.#receive().catch((error: unknown) => {
      if (error instanceof LineTooLongError || error instanceof LineEncodingError) this.#violate();
    });
  }

  get isOpen(): boolean {
    const { stream } = this.#options;
    return !stream.destroyed && !stream.closed && !stream.writableEnded;
  }

  /**
   * Writes lines, and resolves when there is room for more. Resolves with false if nothing was
   * written, or nothing more can be.
   */
  async write(lines: string | Buffer): Promise<boolean> {
    if (!this.#send(lines)) return false;
    const { stream } = this.#options;
    if (stream.writableNeedDrain) await untilDrained(stream);
    else await setImmediate();
    return this.isOpen;
  }

  /** Writes a dispensable frame, unless the proxy is not reading. */
  writeIfRoom(frame: ControllerFrame): void {
    if (this.#options.stream.writableNeedDrain) return;
    this.#send(`${JSON.stringify(frame)}\n`);
  }

  /** Writes a `goaway`, and ends the stream. */
  end(reason: string): void {
    this.#send(`${JSON.stringify({ t: 'goaway', reason } satisfies ControllerFrame)}\n`);
    this.#options.stream.end();
  }

  /** Drops the stream and all unsent frames. */
  destroy(): void {
    this.#options.stream.close(constants.NGHTTP2_CANCEL);
    this.#options.stream.destroy();
  }

  #send(lines: string | Buffer): boolean {
    if (!this.isOpen || !this.#options.mayWrite()) return false;
    this.#options.stream.write(lines);
    return true;
  }

  /** Reads until the proxy ends its side, which also closes the stream. */
  async #receive(): Promise<void> {
    const { stream, onFrame, onFailure } = this.#options;
    for await (const line of readLines(stream, LONGEST_PROXY_LINE_BYTES)) {
      const frame = parseProxyFrame(line);
      if (frame === undefined) {
        this.#violate();
        return;
      }
      try {
        onFrame(frame);
      } catch (error) {
        onFailure(error);
        return;
      }
    }
  }

  #violate(): void {
    this.#options.onViolation();
    this.destroy();
  }
}

/** Resolves when the stream has room, or is closed. */
async function untilDrained(stream: ServerHttp2Stream): Promise<void> {
  const settled = new AbortController();
  const { signal } = settled;
  const wait = async (event: string): Promise<void> => {
    await once(stream, event, { signal }).catch(() => undefined);
  };
  await Promise.race([wait('drain'), wait('close')]);
  settled.abort();
}
