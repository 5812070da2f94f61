import type { Duplex } from 'node:stream';

import type { OpenStream } from '../response/open-streams.ts';
import { WebSocketFrames } from './web-socket-frames.ts';

/** A close frame with status 1001, "going away" (RFC 6455, sections 5.5.1 and 7.4.1). */
const GOING_AWAY = Buffer.from([0x88, 0x02, 0x03, 0xe9]);

/**
 * A WebSocket between a client and its upstream, whose bytes somebody else pipes. It can be ended with
 * a close frame of the gateway's own: the client's answer to it then ends the upstream's side too.
 */
export class WebSocketStream implements OpenStream {
  readonly isAnswer = false;
  readonly #client: Duplex;
  readonly #upstream: Duplex;
  readonly #frames = new WebSocketFrames();
  #isEnding = false;
  #bytes = 0;

  constructor(client: Duplex, upstream: Duplex) {
    this.#client = client;
    this.#upstream = upstream;
    upstream.on('data', this.#follow);
  }

  /** How much the upstream sent. */
  get bytes(): number {
    return this.#bytes;
  }

  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const upstream = this.#upstream;
    upstream.off('data', this.#follow).unpipe(this.#client);
    upstream.on('data', this.#finishFrame).resume();
    if (this.#frames.isBetweenFrames) this.#sayGoodbye();
  }

  readonly #follow = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    this.#frames.follow(chunk);
  };

  readonly #finishFrame = (chunk: Buffer): void => {
    const rest = chunk.subarray(0, this.#frames.followFrame(chunk));
    this.#bytes += rest.length;
    const hasRoom = this.#client.write(rest);
    if (this.#frames.isBetweenFrames) this.#sayGoodbye();
    else if (!hasRoom) {
      this.#upstream.pause();
      this.#client.once('drain', () => this.#upstream.resume());
    }
  };

  /** After a close frame nothing more is sent; what the upstream still says is forgotten. */
  #sayGoodbye(): void {
    this.#upstream.off('data', this.#finishFrame).resume();
    this.#client.write(GOING_AWAY);
    // A client that leaves without an answer is waited for by nobody.
    this.#client.once('end', () => this.#client.end());
  }
}
