import { once } from 'node:events';
import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';

import {
  PUSH_PATH,
  PUSH_PROTOCOL,
  type ControllerFrame,
  type RejectedEntry,
  type ProxyFrame,
} from '../../../shared/snapshot/push-frames.ts';
import { formatPosition } from '../../../shared/snapshot/snapshot-position.ts';
import { expectMembers, StagedSnapshot, type ProbedSnapshot } from './staged-snapshot.ts';

/** A snapshot that was received completely, with the keys that were put or deleted. */
export interface ReceivedSnapshot extends ProbedSnapshot {
  readonly base: string | null;
  readonly changed: ReadonlySet<string>;
}

/** `'ack'`, the rejected entries, or nothing. */
export type ProbeAnswer = 'ack' | 'silence' | readonly RejectedEntry[];

export interface ProbeOptions {
  readonly port: number;
  /** The authority of the controller's certificate, in PEM. */
  readonly ca: string;
  /** Host that the certificate must be for; defaults to 127.0.0.1. */
  readonly serverName?: string;
  readonly id: string;
  readonly token?: string;
  /** The snapshot that it serves from the start. */
  readonly serving?: ProbedSnapshot | undefined;
  /** Replaces or extends the header that it would send. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns the answer to a snapshot; defaults to 'ack'. */
  readonly answer?: (received: ReceivedSnapshot) => ProbeAnswer;
  /** Sends no `pong` to a `ping`. */
  readonly mute?: boolean;
}

/** A proxy that serves no requests, and reports every violation of the protocol. */
export interface PushProbe extends AsyncDisposable {
  /** Status and header of the response. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Frames that were received. */
  readonly frames: readonly ControllerFrame[];
  readonly received: readonly ReceivedSnapshot[];
  /** The snapshot that it acknowledged last. */
  readonly serving: ProbedSnapshot | undefined;
  readonly isClosed: boolean;
  /** Whether the connection is closed as well. */
  readonly isDisconnected: boolean;
  /** Bytes received on the stream. */
  readonly bytes: number;
  /** Violations of the protocol by the controller. */
  readonly faults: readonly string[];
  send(frame: ProxyFrame | string | Buffer): void;
  acknowledge(received: ReceivedSnapshot): void;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the probe, and rejects if there were violations. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Opens a stream, and resolves with the response. */
export async function connectProbe(options: ProbeOptions): Promise<PushProbe> {
  const { port, ca, serverName: servername } = options;
  const session = connect(`https://127.0.0.1:${String(port)}`, {
    ca,
    ...(servername !== undefined && { servername }),
  });
  // The stream reports the error too.
  session.on('error', () => undefined);
  const stream = session.request({ ...helloOf(options), ...options.headers });
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  return new Probe(options, { session, stream, headers });
}

function helloOf({ id, token = `token of ${id}`, serving }: ProbeOptions): Record<string, string> {
  const hello = {
    ':method': 'POST',
    ':path': PUSH_PATH,
    'x-proto': PUSH_PROTOCOL,
    'x-proxy-id': id,
    authorization: `Bearer ${token.replaceAll(' ', '-')}`,
  };
  if (serving === undefined) return hello;
  const { position, snapshot } = serving;
  const routes = [...snapshot.resources.keys()].filter((key) => key.startsWith('route/'));
  return {
    ...hello,
    'x-have': `${formatPosition(position)}:${snapshot.version}`,
    'x-routes': String(routes.length),
  };
}

class Probe implements PushProbe {
  readonly headers: IncomingHttpHeaders;
  readonly frames: ControllerFrame[] = [];
  readonly received: ReceivedSnapshot[] = [];
  readonly faults: string[] = [];
  serving: ProbedSnapshot | undefined;
  isClosed = false;
  isDisconnected = false;
  bytes = 0;
  readonly #options: ProbeOptions;
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  #staged: StagedSnapshot | undefined;
  #rest = '';
  #isEnded = false;
  #answers = 0;

  constructor(
    options: ProbeOptions,
    {
      session,
      stream,
      headers,
    }: {
      readonly session: ClientHttp2Session;
      readonly stream: ClientHttp2Stream;
      readonly headers: IncomingHttpHeaders;
    },
  ) {
    this.#options = options;
    this.#session = session;
    this.#stream = stream;
    this.headers = headers;
    this.serving = options.serving;
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => this.#read(text));
    // An error is followed by `close`, which reports it.
    stream.on('error', () => undefined);
    stream.once('close', () => (this.isClosed = true));
    session.once('close', () => (this.isDisconnected = true));
  }

  get status(): number {
    return Number(this.headers[':status']);
  }

  send(frame: ProxyFrame | string | Buffer): void {
    if (!this.#stream.writable) return;
    const isRaw = typeof frame === 'string' || Buffer.isBuffer(frame);
    this.#stream.write(isRaw ? frame : `${JSON.stringify(frame)}\n`);
  }

  acknowledge({ position, snapshot }: ReceivedSnapshot): void {
    this.#answers += 1;
    this.serving = { position, snapshot };
    const { epoch, sequence: seq } = position;
    this.send({ t: 'ack', epoch, seq, version: snapshot.version, appliedMs: 1 });
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#session.destroyed) {
      const closed = once(this.#session, 'close');
      this.#session.destroy();
      await closed;
    }
    if (this.faults.length > 0) throw new Error(`controller: ${this.faults.join(', ')}`);
  }

  #read(text: string): void {
    this.bytes += Buffer.byteLength(text);
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      try {
        // The frames are checked when they are used.
        this.#take(JSON.parse(line) as ControllerFrame);
      } catch (error) {
        this.faults.push(String(error));
      }
    }
  }

  #take(frame: ControllerFrame): void {
    this.frames.push(frame);
    if (this.#isEnded) throw new Error(`${frame.t} after goaway`);
    switch (frame.t) {
      case 'ping':
        expectMembers(frame, ['t']);
        if (this.#options.mute !== true) this.send({ t: 'pong' });
        return;
      case 'goaway':
        expectMembers(frame, ['t', 'reason']);
        this.#isEnded = true;
        this.#stream.end();
        return;
      case 'begin':
        if (this.#staged !== undefined) throw new Error('begin within a snapshot');
        if (this.received.length > this.#answers) throw new Error('begin before an answer');
        this.#staged = new StagedSnapshot(frame, this.serving);
        return;
      case 'put':
        this.#stage().put(frame);
        return;
      case 'keep':
        this.#stage().keep(frame);
        return;
      case 'del':
        this.#stage().delete(frame);
        return;
      case 'commit':
        this.#receive(this.#stage(), this.#stage().commit(frame));
    }
  }

  #stage(): StagedSnapshot {
    if (this.#staged === undefined) throw new Error('a frame outside a snapshot');
    return this.#staged;
  }

  #receive({ begin, changed }: StagedSnapshot, snapshot: ProbedSnapshot): void {
    this.#staged = undefined;
    const received = { ...snapshot, base: begin.base, changed };
    this.received.push(received);
    const answer = this.#options.answer?.(received) ?? 'ack';
    if (answer === 'silence') return;
    if (answer === 'ack') {
      this.acknowledge(received);
      return;
    }
    this.#answers += 1;
    const { epoch, seq } = begin;
    const version = this.serving?.snapshot.version ?? null;
    const errors = answer.map((error) => {
      const served = this.serving?.snapshot.resources.get(error.key);
      const isKept = error.reason === 'InvalidResource' && served !== undefined;
      return isKept ? { servedHash: served.hash, ...error } : error;
    });
    this.send({ t: 'nack', epoch, seq, rejected: errors, version });
  }
}
