import { Buffer } from 'node:buffer';
import type { Duplex } from 'node:stream';

import type { OpenStream } from '../response/open-streams.ts';
import { WebSocketFrames } from './web-socket-frames.ts';

/** A close frame with status 1001, "going away" (RFC 6455, sections 5.5.1 and 7.4.1). */
const GOING_AWAY = Buffer.from([0x88, 0x02, 0x03, 0xe9]);

/**
 * A WebSocket between a client and its upstream. http-proxy pipes its bytes; this can end it with a
 * close frame, and the client's answer to that frame then ends the upstream's side too.
 */
export class WebSocketStream implements OpenStream {
  readonly kind = 'websocket';
  readonly answersCall = false;
  readonly #client: Duplex;
  readonly #upstream: Duplex;
  readonly #frames = new WebSocketFrames();
  #isEnding = false;
  #bytes = 0;

  constructor(client: Duplex, upstream: Duplex) {
    this.#client = client;
    this.#upstream = upstream;
    upstream.on('data', this.#parse);
  }

  /** Number of bytes from the upstream to the client. */
  get bytes(): number {
    return this.#bytes;
  }

  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const upstream = this.#upstream;
    upstream.off('data', this.#parse).unpipe(this.#client);
    upstream.on('data', this.#finishFrame).resume();
    if (this.#frames.isBetweenFrames) this.#sendClose();
  }

  readonly #parse = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    this.#frames.parse(chunk);
  };

  readonly #finishFrame = (chunk: Buffer): void => {
    const rest = chunk.subarray(0, this.#frames.parseFrame(chunk));
    this.#bytes += rest.length;
    const hasRoom = this.#client.write(rest);
    if (this.#frames.isBetweenFrames) this.#sendClose();
    else if (!hasRoom) {
      this.#upstream.pause();
      this.#client.once('drain', () => this.#upstream.resume());
    }
  };

  /** Nothing may follow a close frame, so the upstream's further bytes are discarded. */
  #sendClose(): void {
    this.#upstream.off('data', this.#finishFrame).resume();
    this.#client.write(GOING_AWAY);
    // Nothing waits for a client that leaves without a response.
    this.#client.once('end', () => this.#client.end());
  }
}
