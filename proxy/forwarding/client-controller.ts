import type { ClientRequest, IncomingMessage } from 'node:http';

import type { Dispatcher } from 'undici';

/** undici's controller for a request of Node's client. */
export class ClientController implements Dispatcher.DispatchController {
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;
  #reason: Error | null = null;
  rawHeaders: string[] = [];
  rawTrailers: string[] = [];

  constructor(request: ClientRequest) {
    this.#request = request;
  }

  /** Makes `pause` and `resume` act on this response. */
  begin(response: IncomingMessage): void {
    this.#response = response;
    this.rawHeaders = response.rawHeaders;
  }

  get aborted(): boolean {
    return this.#reason !== null;
  }

  get paused(): boolean {
    return this.#response?.isPaused() ?? false;
  }

  get reason(): Error | null {
    return this.#reason;
  }

  abort(reason: Error): void {
    this.#reason = reason;
    this.#request.destroy(reason);
  }

  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }
}
