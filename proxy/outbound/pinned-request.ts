import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { LookupFunction } from 'node:net';

import { GatheredBytes } from '../http/gathered-bytes.ts';
import { OutboundFailedError } from './outbound-errors.ts';

/** An address of a host. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** A complete response. */
export interface OutboundResponse {
  /** May be any status: redirects are not followed, and no status is an error here. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What a request consists of, besides its URL. */
export interface OutboundContent {
  /** Absent: `GET`. */
  readonly method?: 'GET' | 'POST';
  /** Value of the `Accept` header. */
  readonly accept: string;
  /** Lower-case names of further fields, and their values. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

interface RequestSettings extends OutboundContent {
  readonly maxBytes: number;
  /** Certificate authorities in PEM, instead of the well-known ones. */
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sends a request to one of the given addresses only, even if the host of the URL now resolves to others. No
 * redirect is followed; no proxy, cookie or shared connection is used, and no credential but those in `headers`
 * and `body`.
 */
export async function pinnedRequest(
  url: URL,
  addresses: readonly ResolvedAddress[],
  options: RequestSettings,
): Promise<OutboundResponse> {
  const response = await send(url, addresses, options);
  return await readResponse(response, options.maxBytes);
}

function send(
  url: URL,
  addresses: readonly ResolvedAddress[],
  { method = 'GET', accept, headers, body, ca, signal }: RequestSettings,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method,
    // An agent of its own shares no connection and ignores NODE_USE_ENV_PROXY.
    agent: false,
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      accept,
      'accept-encoding': 'identity',
      'user-agent': 'gatehouse',
    },
    lookup: pinnedTo(addresses),
    signal,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 would change the default.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  };
  return new Promise((resolveResponse, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
    request(url, options)
      .on('response', resolveResponse)
      // Attack: without a listener, Node closes the connection and says nothing, so that callers wait for ever.
      .on('upgrade', (_response, socket) => {
        socket.destroy();
        reject(new OutboundFailedError('connection', 'the server changed the protocol'));
      })
      .on('error', reject)
      .end(body);
  });
}

/**
 * Returns a look-up of the checked addresses. Attack: DNS rebinding, by a second response of the name
 * server. Server name and certificate remain those of the host.
 */
function pinnedTo(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, { all }, done) => {
    const [first] = addresses;
    if (all === true || first === undefined) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
}

async function readResponse(
  response: IncomingMessage,
  maxBytes: number,
): Promise<OutboundResponse> {
  const { statusCode: status = 0, headers } = response;
  if (maxBytes === 0) {
    response.destroy();
    return { status, headers, body: Buffer.alloc(0) };
  }
  const tooLarge = new OutboundFailedError(
    'too-large',
    `the response is longer than ${String(maxBytes)} bytes`,
  );
  const gathered = new GatheredBytes();
  try {
    if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
    // Without setEncoding a message yields buffers only.
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (gathered.length + chunk.length > maxBytes) throw tooLarge;
      gathered.add(chunk);
    }
  } finally {
    response.destroy();
  }
  return { status, headers, body: gathered.bytes() };
}
