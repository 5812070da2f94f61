import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ControllerFrame, ProxyFrame } from '../../../shared/snapshot/push-frames.ts';
import { readLines } from '../../../shared/runtime/read-lines.ts';
import { eventually } from '../eventually.ts';
import { createThrowawayAuthority, type ThrowawayAuthority } from '../throwaway-authority.ts';

const LONGEST_LINE_BYTES = 16 * 1024 * 1024;

/** A controller that a test scripts, over real TLS and HTTP/2. */
export interface ScriptedController extends AsyncDisposable {
  readonly port: number;
  /** Files for a proxy that connects to it. */
  readonly ca: string;
  readonly tokenFile: string;
  readonly authority: ThrowawayAuthority;
  /** Streams that proxies opened, in order. */
  readonly streams: readonly ProxyStream[];
  /** Returns the next stream that a proxy opens, or has opened. */
  nextStream(): Promise<ProxyStream>;
  /** Names that proxies requested in the TLS handshake, in order. */
  readonly serverNames: readonly string[];
}

/** A stream of a proxy, as the controller sees it. */
export interface ProxyStream {
  readonly headers: IncomingHttpHeaders;
  /** Frames of the proxy, in order. */
  readonly frames: readonly ProxyFrame[];
  readonly isClosed: boolean;
  accept(): void;
  refuse(status: number, headers?: OutgoingHttpHeaders): void;
  send(frames: readonly ControllerFrame[]): void;
  sendText(text: string): void;
  sendBytes(bytes: Buffer): void;
  /** Resolves once the proxy has received the answers to every ping that it sent. */
  answerPings(): Promise<void>;
  /** Ends the stream without a `goaway`. */
  end(): void;
  /** Returns the next frame of that kind that was not returned yet. */
  next<Type extends ProxyFrame['t']>(
    type: Type,
  ): Promise<Extract<ProxyFrame, { readonly t: Type }>>;
  /** Returns the next ack or nack. */
  nextAnswer(): Promise<Extract<ProxyFrame, { readonly t: 'ack' | 'nack' }>>;
}

export interface ScriptedControllerOptions {
  /** Names in its certificate. */
  readonly hosts?: readonly string[];
  readonly authority?: ThrowawayAuthority;
  /** When its certificate expires. */
  readonly validTo?: Date;
  /** Called with every stream that a proxy opens. */
  readonly onStream?: (stream: ProxyStream) => void;
}

/** Starts a controller on loopback. */
export async function startScriptedController({
  hosts = ['localhost'],
  authority = createThrowawayAuthority(),
  validTo,
  onStream,
}: ScriptedControllerOptions = {}): Promise<ScriptedController> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-push-'));
  const files = { ca: join(directory, 'ca.crt'), tokenFile: join(directory, 'token') };
  await writeFile(files.ca, authority.ca);
  await writeFile(files.tokenFile, 'the-first-token\n');
  const streams: ScriptedStream[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const serverNames: string[] = [];
  const server = createSecureServer(
    authority.issue(hosts, validTo === undefined ? undefined : { validTo }),
  );
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
    session.once('close', () => sessions.delete(session));
  });
  server.on('secureConnection', ({ servername }: { servername?: string | false }) => {
    serverNames.push(typeof servername === 'string' ? servername : '');
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const opened = new ScriptedStream(stream, headers);
    streams.push(opened);
    onStream?.(opened);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let taken = 0;
  return {
    // A TCP server has an address of this type.
    port: (server.address() as AddressInfo).port,
    ...files,
    authority,
    streams,
    serverNames,
    async nextStream() {
      await eventually('a proxy opens a stream', () => streams.length > taken);
      const stream = streams[taken];
      if (stream === undefined) throw new Error('no stream was opened');
      taken += 1;
      return stream;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const session of sessions) session.destroy();
      await closed;
      await rm(directory, { recursive: true });
    },
  };
}

class ScriptedStream implements ProxyStream {
  readonly headers: IncomingHttpHeaders;
  readonly frames: ProxyFrame[] = [];
  readonly #stream: ServerHttp2Stream;
  readonly #returned = new Set<ProxyFrame>();

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.headers = headers;
    this.#stream = stream;
    stream.on('error', () => undefined);
    // An error is followed by `close`, which reports it.
    this.#read().catch(() => undefined);
  }

  get isClosed(): boolean {
    return this.#stream.destroyed || this.#stream.readableEnded;
  }

  accept(): void {
    this.#stream.respond({ ':status': 200 });
  }

  refuse(status: number, headers: OutgoingHttpHeaders = {}): void {
    this.#stream.respond({ ':status': status, ...headers }, { endStream: true });
  }

  send(frames: readonly ControllerFrame[]): void {
    this.sendText(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''));
  }

  sendText(text: string): void {
    this.#stream.write(text);
  }

  sendBytes(bytes: Buffer): void {
    this.#stream.write(bytes);
  }

  async answerPings(): Promise<void> {
    // The answer to the first ping shows that the proxy's pings arrived; the answer to the second,
    // that our answers to them arrived.
    await this.#ping();
    await this.#ping();
  }

  end(): void {
    this.#stream.end();
  }

  async next<Type extends ProxyFrame['t']>(
    type: Type,
  ): Promise<Extract<ProxyFrame, { readonly t: Type }>> {
    const isOfType = (frame: ProxyFrame): frame is Extract<ProxyFrame, { readonly t: Type }> =>
      frame.t === type;
    return await this.#next(type, isOfType);
  }

  async nextAnswer(): Promise<Extract<ProxyFrame, { readonly t: 'ack' | 'nack' }>> {
    return await this.#next(
      'ack or nack',
      (frame): frame is Extract<ProxyFrame, { readonly t: 'ack' | 'nack' }> =>
        frame.t === 'ack' || frame.t === 'nack',
    );
  }

  #ping(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const isSent = this.#stream.session?.ping((error) => {
      if (error === null) resolve(undefined);
      else reject(error);
    });
    if (isSent !== true) reject(new Error('the connection is closed'));
    return promise;
  }

  async #next<Frame extends ProxyFrame>(
    what: string,
    isWanted: (frame: ProxyFrame) => frame is Frame,
  ): Promise<Frame> {
    const find = (): Frame | undefined =>
      this.frames.filter(isWanted).find((frame) => !this.#returned.has(frame));
    await eventually(`the proxy sends ${what}`, () => find() !== undefined);
    const found = find();
    if (found === undefined) throw new Error('no frame was found');
    this.#returned.add(found);
    return found;
  }

  async #read(): Promise<void> {
    for await (const line of readLines(this.#stream, LONGEST_LINE_BYTES)) {
      // Tests compare the frames of the proxy.
      this.frames.push(JSON.parse(line) as ProxyFrame);
    }
  }
}
