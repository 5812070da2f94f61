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
  /** Sent with its length; in one chunk with `transfer-encoding: chunked` in `headers`. */
  readonly body?: string | Buffer;
  /** Address of this machine to send from. */
  readonly from?: string;
  /** Port of what passes the request on to the one in the URL. */
  readonly through?: number;
}

/**
 * Sends one request on a connection of its own. Names under `localhost` are this machine, and the
 * path goes out byte for byte: no URL parser mends it.
 */
export async function send(url: string, options: RequestOptions = {}): Promise<Answer> {
  const response = await open(url, options);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await text(response),
  };
}

/** The same, as far as the head of the response: its body is still to come. */
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
  outgoing.end(body);
  // Node emits `response` with the message alone.
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response;
}

function present(headers: Headers): OutgoingHttpHeaders {
  const fields = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === 'string' ? value : [...(value ?? [])]]),
  );
}

/** The members of a body that is a JSON object. */
export function membersOf({ body }: Pick<Answer, 'body'>): Readonly<Record<string, unknown>> {
  // A test that expects an object fails at the member it misses.
  return JSON.parse(body) as Record<string, unknown>;
}
