import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import httpProxy from 'http-proxy';

import {
  ClientGoneError,
  UpstreamTimeoutError,
  UpstreamUnreachableError,
} from '../../errors/request-errors.ts';
import type { GatewayRequest } from '../../http/gateway-request.ts';
import type { RequestMessage } from '../../http/request-message.ts';
import { closeGently } from '../../http/close-gently.ts';
import { endWithResponse, rawHead } from '../../http/raw-response.ts';
import { asError } from '../as-error.ts';
import { agentOn, connectEndpoint } from '../targets/connect-target.ts';
import type { TargetLoads } from '../targets/target-loads.ts';
import { TargetVisit } from '../targets/target-visit.ts';
import type { TargetChoice } from '../targets/target.ts';
import type { OpenStreams } from '../response/open-streams.ts';
import { responseHeaders } from '../response/response-headers.ts';
import type { UpstreamRequest } from '../request/upstream-request.ts';
import { WebSocketStream } from './web-socket-stream.ts';

/** A handshake and the connection it came on. */
export interface UpgradeExchange {
  readonly request: GatewayRequest;
  readonly socket: Duplex;
  /** What the client sent after the handshake already. */
  readonly head: Buffer;
}

const LINGER_MS = 5_000;
const SWITCHING_PROTOCOLS = 101;

/**
 * One WebSocket connection through the gateway, from the handshake to its end. http-proxy carries it;
 * here is what it leaves open: the exact path and header fields, and the end of one side when the
 * other leaves.
 */
export class UpgradeRelay {
  readonly #upstream: UpstreamRequest;
  readonly #exchange: UpgradeExchange;
  readonly #loads: TargetLoads;
  readonly #streams: OpenStreams;
  #isUpgraded = false;
  #failure: Error | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    upstream: UpstreamRequest,
    exchange: UpgradeExchange,
    { loads, streams }: { readonly loads: TargetLoads; readonly streams: OpenStreams },
  ) {
    this.#upstream = upstream;
    this.#exchange = exchange;
    this.#loads = loads;
    this.#streams = streams;
  }

  /** Resolves when the connection is over; rejects when it never came about. */
  run(): Promise<void> {
    const { socket } = this.#exchange;
    if (socket.destroyed) return Promise.reject(new ClientGoneError('the client left'));
    return new Promise((resolve, reject) => {
      socket.once('close', () => {
        clearTimeout(this.#timer);
        if (this.#isUpgraded) resolve();
        else reject(this.#failure ?? new ClientGoneError('the client left before the handshake'));
      });
      const { choice } = this.#upstream;
      if (choice === undefined) this.#shakeHands();
      else this.#visitEndpoint(choice).catch((error: unknown) => this.#fail(asError(error)));
    });
  }

  /** Connects first: http-proxy makes one attempt, and then ends the client's connection. */
  async #visitEndpoint(choice: TargetChoice): Promise<void> {
    const { socket } = this.#exchange;
    const visit = new TargetVisit(choice, this.#loads);
    socket.once('close', () => visit.leave());
    const connection = await connectEndpoint(visit);
    if (socket.destroyed) connection.destroy();
    else this.#shakeHands(agentOn(connection));
  }

  #shakeHands(agent?: Agent): void {
    const { request, socket, head } = this.#exchange;
    const proxy = httpProxy.createProxyServer();
    proxy.on('proxyReqWs', (outgoing) => {
      // http-proxy collapses slashes.
      outgoing.path = this.#upstream.path;
      // Once http-proxy has added its own listeners.
      queueMicrotask(() => this.#attach(outgoing));
    });
    const message = handshake(request.message, this.#upstream);
    const target = targetOf(this.#upstream.origin);
    proxy.ws(message, socket, head, { target, toProxy: true, agent }, this.#fail);
  }

  #attach(outgoing: ClientRequest): void {
    const { socket } = this.#exchange;
    const leave = (): unknown => outgoing.destroy();
    socket.once('close', leave);
    socket.on('readable', this.#noticeEnd);
    const { responseTimeoutMs } = this.#upstream;
    if (responseTimeoutMs > 0) {
      const timedOut = new UpstreamTimeoutError('no answer to the handshake in time');
      this.#timer = setTimeout(() => outgoing.destroy(timedOut), responseTimeoutMs);
    }
    // What these throw would be nobody's to catch: one odd answer would end the process.
    const carry = outgoing.listeners('upgrade');
    outgoing.removeAllListeners('upgrade').once('upgrade', (response, upstreamSocket, head) => {
      this.#begin();
      try {
        response.headers = switchingHeaders(response);
      } catch (error) {
        // Without the error: nobody listens for it on this socket any more.
        upstreamSocket.destroy();
        this.#fail(asError(error));
        return;
      }
      socket.off('close', leave);
      this.#isUpgraded = true;
      socket.once('close', () => upstreamSocket.destroy());
      upstreamSocket.once('close', () => closeGently(socket, LINGER_MS));
      for (const listener of carry) listener.call(outgoing, response, upstreamSocket, head);
      this.#register(new WebSocketStream(socket, upstreamSocket));
    });
    // http-proxy would announce chunks and send none.
    outgoing.removeAllListeners('response').once('response', (response) => {
      this.#begin();
      try {
        this.#answer(response);
      } catch (error) {
        outgoing.destroy(asError(error));
      }
    });
  }

  #register(stream: WebSocketStream): void {
    this.#exchange.socket.once('close', () => this.#streams.delete(stream));
    this.#streams.add(stream);
  }

  /** The upstream has answered: from now on the client's bytes are somebody else's to read. */
  #begin(): void {
    clearTimeout(this.#timer);
    this.#exchange.socket.off('readable', this.#noticeEnd);
  }

  /** Nobody reads before the upgrade, and only a reader sees the end of a connection. */
  readonly #noticeEnd = (): void => {
    const { socket } = this.#exchange;
    if (socket.readableLength > 0) return;
    socket.once('end', () => socket.destroy());
    socket.read(0);
  };

  /** The upstream declined: its response is the client's. */
  #answer(response: IncomingMessage): void {
    const { socket } = this.#exchange;
    const { statusCode: status = 0, rawHeaders } = response;
    // A 101 without `Connection: Upgrade` is neither a response nor an upgrade.
    if (status === SWITCHING_PROTOCOLS) throw new UpstreamUnreachableError('odd upgrade');
    const hasNoBody = status === 204 || status === 304;
    const framing = { status, hasNoBody, canChunk: false };
    const { fields, endsWithConnection } = responseHeaders(rawHeaders, framing);
    const head = rawHead(status, fields);
    this.#failure = new UpstreamUnreachableError('the upstream declined the upgrade');
    socket.write(head, 'latin1');
    response.on('error', () => {
      if (endsWithConnection && socket instanceof Socket) socket.resetAndDestroy();
      else socket.destroy();
    });
    response.on('end', () => closeGently(socket, LINGER_MS));
    response.pipe(socket, { end: false });
  }

  readonly #fail = (error: Error): void => {
    if (this.#isUpgraded) return;
    this.#failure ??=
      error instanceof UpstreamTimeoutError || error instanceof UpstreamUnreachableError
        ? error
        : new UpstreamUnreachableError('the upstream cannot be reached', { cause: error });
    const status = error instanceof UpstreamTimeoutError ? error.status : 502;
    endWithResponse(this.#exchange.socket, { status });
  };
}

/** The client's message with the header fields that the upstream is to get. */
function handshake(message: RequestMessage, upstream: UpstreamRequest): IncomingMessage {
  const headers = byName([
    ...upstream.headers,
    ...['host', new URL(upstream.origin).host, 'connection', 'Upgrade', 'upgrade', 'websocket'],
  ]);
  // http-proxy takes nothing but the method, these fields and the connection from a message.
  return Object.create(message, { headers: { value: headers } }) as IncomingMessage;
}

/** Header fields of the 101 for the client, as http-proxy writes them. */
function switchingHeaders({ rawHeaders }: IncomingMessage): IncomingHttpHeaders {
  const framing = { status: SWITCHING_PROTOCOLS, hasNoBody: true, canChunk: false };
  const { fields } = responseHeaders(rawHeaders, framing);
  return byName([...fields, 'Connection', 'Upgrade', 'Upgrade', 'websocket']);
}

/** A flat list as an object, repeated fields together under their first spelling. */
function byName(fields: readonly string[]): Record<string, string | string[]> {
  const headers = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    const lower = name.toLowerCase();
    // http-proxy copies fields by assignment, which makes a prototype of this one.
    if (lower === '__proto__') continue;
    const header = headers.get(lower) ?? { name, values: [] };
    headers.set(lower, header);
    header.values.push(fields[index + 1] ?? '');
  }
  return Object.fromEntries(
    [...headers.values()].map(({ name, values }) => [
      name,
      values.length === 1 ? (values[0] ?? '') : values,
    ]),
  );
}

function targetOf(origin: string): { protocol: string; host: string; port: number } {
  const { protocol, hostname, port } = new URL(origin);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return {
    protocol,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? defaultPort : Number(port),
  };
}
