import { once } from 'node:events';
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { text } from 'node:stream/consumers';

/** A whole response. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface RequestOptions {
  readonly method?: string;
  /** A list repeats the field; undefined leaves it out. */
  readonly headers?: Headers;
  /** Sent with its length, or in one chunk if `headers` has `transfer-encoding: chunked`. */
  readonly body?: string | Buffer;
  /** Address of this machine to send from. */
  readonly from?: string;
  /** Port of an intermediary that passes the request on to the port in the URL. */
  readonly through?: number;
}

/**
 * Sends one request on a connection of its own. Names under `localhost` are this machine, and the
 * path is sent byte for byte, without normalization by a URL parser.
 */
export async function send(url: string, options: RequestOptions = {}): Promise<Answer> {
  const response = await open(url, options);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await text(response),
  };
}

/** Sends a request, and resolves with the head of the response before its body. */
export async function open(
  url: string,
  { method = 'GET', headers = {}, body, from, through }: RequestOptions = {},
): Promise<IncomingMessage> {
  const [, host = '', port = '80', path = ''] =
    /^http:\/\/([^/:]+)(?::(\d+))?(.*)$/.exec(url) ?? [];
  const isChunked = headers['transfer-encoding'] !== undefined;
  const outgoing = httpRequest({
    host: '127.0.0.1',
    port: through ?? port,
    localAddress: from,
    path: path === '' ? '/' : path,
    method,
    headers: {
      host: `${host}:${port}`,
      ...(body === undefined || isChunked ? {} : { 'content-length': Buffer.byteLength(body) }),
      ...present(headers),
    },
    agent: false,
  });
  // Without this, Node closes the connection and reports nothing, and a test would wait for ever.
  outgoing.once('upgrade', (_response, socket) => {
    socket.destroy();
    outgoing.emit('error', new Error('the handshake was accepted'));
  });
  outgoing.end(body);
  // Node emits `response` with the message as its only argument.
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response;
}

function present(headers: Headers): OutgoingHttpHeaders {
  const fields = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === 'string' ? value : [...(value ?? [])]]),
  );
}

/** Parses the members of a body that is a JSON object. */
export function membersOf({ body }: Pick<Answer, 'body'>): Readonly<Record<string, unknown>> {
  // A test that expects an object fails at a missing member.
  return JSON.parse(body) as Record<string, unknown>;
}
