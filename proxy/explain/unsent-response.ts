import type { OutgoingHttpHeaders } from 'node:http';
import { Writable } from 'node:stream';

import type { ClientResponse } from '../http/client-response.ts';

/** A response that reaches nobody, and whose head is kept. */
export class UnsentResponse extends Writable implements ClientResponse {
  readonly req: ClientResponse['req'];
  readonly canChunk = true;
  #head: { readonly status: number; readonly headers: OutgoingHttpHeaders } | undefined;

  constructor(method: string) {
    super();
    this.req = { method };
  }

  get headersSent(): boolean {
    return this.#head !== undefined;
  }

  /** Absent if the gateway has answered nothing by itself. */
  get status(): number | undefined {
    return this.#head?.status;
  }

  /** The `WWW-Authenticate` field. */
  get challenge(): string | undefined {
    const value = this.#head?.headers['www-authenticate'];
    return value === undefined ? undefined : String(value);
  }

  writeHead(status: number, headers: OutgoingHttpHeaders): void {
    this.#head = { status, headers };
  }

  sendHead(status: number): void {
    this.#head = { status, headers: {} };
  }

  sendPart(): boolean {
    return true;
  }

  endBody(): void {
    this.end();
  }

  sendHints(): void {
    // Nobody reads them.
  }

  cutOff(): void {
    this.destroy();
  }

  override _write(_part: unknown, _encoding: string, done: () => void): void {
    done();
  }
}
