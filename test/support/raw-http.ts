import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A response as received. */
export interface WireResponse {
  readonly status: number;
  readonly reason: string;
  /** Names and values in their order and spelling. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly trailers: readonly (readonly [string, string])[];
}

/** How a connection ended. */
export type Ending = 'ended' | 'reset';

/** A client that sends exactly the given bytes. */
export class RawClient implements AsyncDisposable {
  readonly socket: Socket;
  /** Settles when the other side has closed the connection, by its end or by a reset. */
  readonly closed: Promise<Ending>;
  #received = Buffer.alloc(0);
  #ending: Ending | undefined;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      const end = (ending: Ending): void => {
        this.#ending ??= ending;
        this.#wake();
        resolve(this.#ending);
      };
      socket.on('end', () => end('ended'));
      socket.on('error', () => end('reset'));
      socket.on('close', () => end('ended'));
    });
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  send(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Everything received and not yet returned by `response`, as ISO 8859-1. */
  get received(): string {
    return this.#received.toString('latin1');
  }

  /** Waits until a text is received. */
  async receives(text: string): Promise<void> {
    await this.#until(() => this.received.includes(text));
  }

  /** Returns the next response, which may be an informational one. */
  async response({ toHead = false } = {}): Promise<WireResponse> {
    for (;;) {
      const parsed = parseResponse(this.received, { toHead, isEnd: this.#ending === 'ended' });
      if (parsed !== undefined) {
        this.#received = this.#received.subarray(parsed.length);
        return parsed.response;
      }
      if (this.#ending !== undefined) {
        throw new Error(`the connection was ${this.#ending} after: ${this.received.slice(0, 500)}`);
      }
      await this.#change();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      if (this.#ending !== undefined) {
        throw new Error(`the connection was ${this.#ending} after: ${this.received.slice(0, 500)}`);
      }
      await this.#change();
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

interface Parsed {
  readonly response: WireResponse;
  readonly length: number;
}

function parseResponse(
  text: string,
  { toHead, isEnd }: { readonly toHead: boolean; readonly isEnd: boolean },
): Parsed | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, headEnd).split('\r\n');
  const [, status = '', reason = ''] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(statusLine) ?? [];
  const headers = lines.map(splitField);
  const rest = text.slice(headEnd + '\r\n\r\n'.length);
  const framing = { toHead, isEnd, status: Number(status), headers };
  const body = parseBody(rest, framing);
  if (body === undefined) return undefined;
  return {
    response: {
      status: Number(status),
      reason,
      headers,
      body: body.content,
      trailers: body.trailers ?? [],
    },
    length: headEnd + '\r\n\r\n'.length + body.length,
  };
}

interface Body {
  readonly content: string;
  readonly length: number;
  readonly trailers?: readonly (readonly [string, string])[];
}

function parseBody(
  text: string,
  framing: {
    readonly toHead: boolean;
    readonly isEnd: boolean;
    readonly status: number;
    readonly headers: readonly (readonly [string, string])[];
  },
): Body | undefined {
  const { toHead, isEnd, status, headers } = framing;
  if (toHead || status < 200 || status === 204 || status === 304) return { content: '', length: 0 };
  if (headerOf({ headers }, 'transfer-encoding') === 'chunked') return parseChunks(text);
  const length = headerOf({ headers }, 'content-length');
  if (length !== undefined) {
    if (text.length < Number(length)) return undefined;
    return { content: text.slice(0, Number(length)), length: Number(length) };
  }
  return isEnd ? { content: text, length: text.length } : undefined;
}

function parseChunks(text: string): Body | undefined {
  let content = '';
  for (let at = 0; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    const start = lineEnd + '\r\n'.length;
    if (size === 0) return parseTrailers(text, start, content);
    if (text.length < start + size + '\r\n'.length) return undefined;
    content += text.slice(start, start + size);
    at = start + size + '\r\n'.length;
  }
}

function parseTrailers(text: string, start: number, content: string): Body | undefined {
  if (text.startsWith('\r\n', start)) return { content, length: start + '\r\n'.length };
  const end = text.indexOf('\r\n\r\n', start);
  if (end === -1) return undefined;
  const trailers = text.slice(start, end).split('\r\n').map(splitField);
  return { content, length: end + '\r\n\r\n'.length, trailers };
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

/** Returns the only value of a header field; undefined if there is none. */
export function headerOf(
  { headers }: Pick<WireResponse, 'headers'>,
  name: string,
): string | undefined {
  return headers.find(([other]) => other.toLowerCase() === name)?.[1];
}
