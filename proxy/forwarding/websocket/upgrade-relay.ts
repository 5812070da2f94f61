import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';

import httpProxy from 'http-proxy';

import { ClientGoneError } from '../../errors/request-errors.ts';
import {
  UpstreamTimeoutError,
  UpstreamUnreachableError,
  WebSocketDeclinedError,
} from '../../errors/upstream-errors.ts';
import { closeGently } from '../../http/close-gently.ts';
import { endWithResponse } from '../../http/raw-response.ts';
import { originAddress } from '../origin-address.ts';
import { asError } from '../../errors/as-error.ts';
import type { Forwarded } from '../forwarded.ts';
import type { UpstreamRequest } from '../request/upstream-request.ts';
import type { OpenStreams } from '../response/open-streams.ts';
import { agentOn, connectTarget } from '../targets/connect-target.ts';
import type { TargetLoads } from '../targets/target-loads.ts';
import { TargetVisit } from '../targets/target-visit.ts';
import type { TargetChoice } from '../targets/target.ts';
import { SWITCHING_PROTOCOLS } from '../response/response-status.ts';
import { handshakeFields, switchingFields } from './handshake-fields.ts';
import { relayDeclined } from './relay-declined.ts';
import { WebSocketStream } from './web-socket-stream.ts';

/** The client's side of a connection after its WebSocket handshake has been read. */
export interface UpgradeClient {
  readonly socket: Duplex;
  /** Bytes that the client has already sent after the handshake. */
  readonly head: Buffer;
}

/** Options of an `UpgradeRelay`, shared by all WebSockets of a process. */
interface UpgradeOptions {
  readonly loads: TargetLoads;
  readonly streams: OpenStreams;
}

/**
 * One WebSocket connection through the gateway, from the handshake to its end. http-proxy carries it;
 * this adds what http-proxy lacks: the exact path and header fields, and the end of one side
 * when the other leaves.
 */
export class UpgradeRelay {
  readonly #upstream: UpstreamRequest;
  readonly #client: UpgradeClient;
  readonly #options: UpgradeOptions;
  readonly #startedAt = performance.now();
  #firstByteMs = 0;
  #visit: TargetVisit | undefined;
  /** Present once the upstream has switched protocols. */
  #stream: WebSocketStream | undefined;
  /** Status of the response if the upstream declined. */
  #declinedWith: number | undefined;
  #declinedBytes = 0;
  /** Cuts that response off; it has begun. */
  #cutOff: (() => void) | undefined;
  /** Why the upstream has not switched. */
  #failure: Error | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(upstream: UpstreamRequest, client: UpgradeClient, options: UpgradeOptions) {
    this.#upstream = upstream;
    this.#client = client;
    this.#options = options;
  }

  /** Resolves when the connection is over; rejects if it was never established. */
  run(): Promise<Forwarded> {
    const { socket } = this.#client;
    if (socket.destroyed) return Promise.reject(new ClientGoneError('the client left'));
    return new Promise((resolve, reject) => {
      socket.once('close', () => {
        clearTimeout(this.#timer);
        this.#visit?.leave();
        const forwarded = this.#forwarded();
        if (forwarded !== undefined) resolve(forwarded);
        else reject(this.#failure ?? new ClientGoneError('the client left before the handshake'));
      });
      const { choice } = this.#upstream;
      if (choice === undefined) this.#startHandshake();
      else this.#visitTarget(choice).catch((error: unknown) => this.#fail(asError(error)));
    });
  }

  /** Returns the result of the connection; undefined if the upstream has not answered. */
  #forwarded(): Forwarded | undefined {
    const status = this.#stream === undefined ? this.#declinedWith : SWITCHING_PROTOCOLS;
    if (status === undefined) return undefined;
    return {
      status,
      bytes: this.#stream?.bytes ?? this.#declinedBytes,
      sentAt: this.#startedAt,
      firstByteMs: this.#firstByteMs,
      upstream: this.#visit?.origin ?? this.#upstream.origin,
      ended: 'complete',
      failure: this.#failure,
    };
  }

  /** Connects first, because http-proxy makes one attempt and then ends the client's connection. */
  async #visitTarget(choice: TargetChoice): Promise<void> {
    this.#visit = new TargetVisit(choice, this.#options.loads);
    const connection = await connectTarget(this.#visit, this.#upstream.span);
    if (this.#client.socket.destroyed) connection.destroy();
    else this.#startHandshake(agentOn(connection));
  }

  #startHandshake(agent?: Agent): void {
    const { socket, head } = this.#client;
    const proxy = httpProxy.createProxyServer();
    proxy.on('proxyReqWs', (outgoing) => {
      // http-proxy collapses slashes.
      outgoing.path = this.#upstream.path;
      // Once http-proxy has added its own listeners.
      queueMicrotask(() => this.#attach(outgoing));
    });
    const message = handshake(this.#upstream);
    const target = originAddress(this.#upstream.origin);
    proxy.ws(message, socket, head, { target, toProxy: true, agent }, this.#fail);
  }

  #attach(outgoing: ClientRequest): void {
    const { socket } = this.#client;
    const leave = (): unknown => outgoing.destroy();
    socket.once('close', leave);
    socket.on('readable', this.#noticeEnd);
    const { responseTimeoutMs } = this.#upstream;
    if (responseTimeoutMs > 0) {
      const timedOut = new UpstreamTimeoutError('no answer to the handshake in time');
      this.#timer = setTimeout(() => outgoing.destroy(timedOut), responseTimeoutMs);
    }
    const carry = outgoing.listeners('upgrade');
    outgoing.removeAllListeners('upgrade').once('upgrade', (response, upstreamSocket, head) => {
      if (!this.#canSwitch(response, upstreamSocket)) return;
      socket.off('close', leave);
      for (const listener of carry) listener.call(outgoing, response, upstreamSocket, head);
      this.#switched(upstreamSocket);
    });
    // http-proxy would announce chunks and send none.
    outgoing.removeAllListeners('response').once('response', (response) => {
      this.#decline(response, outgoing);
    });
  }

  /** Prepares a 101 for the client; returns false if it cannot be passed on. */
  #canSwitch(response: IncomingMessage, upstreamSocket: Duplex): boolean {
    this.#answered(SWITCHING_PROTOCOLS);
    // An error thrown here would be uncaught, and one malformed answer would end the process.
    try {
      response.headers = switchingFields(response.rawHeaders, this.#upstream);
      return true;
    } catch (error) {
      // Not destroyed with the error: this socket has no listener for errors.
      upstreamSocket.destroy();
      this.#fail(asError(error));
      return false;
    }
  }

  #switched(upstreamSocket: Duplex): void {
    const { socket } = this.#client;
    const { streams } = this.#options;
    socket.once('close', () => upstreamSocket.destroy());
    upstreamSocket.once('close', () => closeGently(socket));
    const stream = new WebSocketStream(socket, upstreamSocket);
    this.#stream = stream;
    socket.once('close', () => streams.delete(stream));
    streams.add(stream);
  }

  /** Passes the response of an upstream that declined to the client. */
  #decline(response: IncomingMessage, outgoing: ClientRequest): void {
    const { statusCode = 0 } = response;
    this.#answered(statusCode);
    try {
      this.#cutOff = relayDeclined(response, this.#client.socket, this.#upstream);
      response.on('data', ({ length }: Buffer) => (this.#declinedBytes += length));
      this.#declinedWith = statusCode;
      this.#failure = new WebSocketDeclinedError(statusCode);
    } catch (error) {
      outgoing.destroy(asError(error));
    }
  }

  /** Stops waiting for a response: from now on http-proxy reads the client's bytes. */
  #answered(status: number): void {
    clearTimeout(this.#timer);
    this.#upstream.span?.set('http.response.status_code', status);
    this.#firstByteMs = performance.now() - this.#startedAt;
    this.#client.socket.off('readable', this.#noticeEnd);
  }

  /** Only a read reveals the end of a connection, and nothing else reads before the upgrade. */
  readonly #noticeEnd = (): void => {
    const { socket } = this.#client;
    if (socket.readableLength > 0) return;
    socket.once('end', () => socket.destroy());
    socket.read(0);
  };

  readonly #fail = (error: Error): void => {
    if (this.#stream !== undefined) return;
    // Another answer would become part of the body of the first.
    if (this.#cutOff !== undefined) {
      this.#cutOff();
      return;
    }
    this.#failure ??=
      error instanceof UpstreamTimeoutError || error instanceof UpstreamUnreachableError
        ? error
        : new UpstreamUnreachableError('the upstream cannot be reached', { cause: error });
    const status = error instanceof UpstreamTimeoutError ? error.status : 502;
    endWithResponse(this.#client.socket, { status });
  };
}

/** The client's message with the header fields that the upstream is to get. */
function handshake(upstream: UpstreamRequest): IncomingMessage {
  const headers = handshakeFields(upstream);
  // http-proxy reads only the method, these fields and the connection of a message.
  return Object.create(upstream.request.message, {
    headers: { value: headers },
  }) as IncomingMessage;
}
