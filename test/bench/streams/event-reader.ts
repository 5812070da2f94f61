import { END } from './workload.ts';

const HEAD_END = '\r\n\r\n';
const EVENT_ID = /id: (\d+)\n/g;

/** Reads one response that is an event stream: its head, and then the numbers of its events. */
export class EventReader {
  readonly #head = Promise.withResolvers<undefined>();
  readonly #onEvent: (number: number) => void;
  #text = '';
  #hasHead = false;

  constructor(onEvent: (number: number) => void) {
    this.#onEvent = onEvent;
  }

  /** Resolves after the head; rejects if it is not that of a 200. */
  get head(): Promise<undefined> {
    return this.#head.promise;
  }

  read(part: string): void {
    this.#text += part;
    if (!this.#hasHead) this.#readHead();
    if (this.#hasHead) this.#readEvents();
  }

  #readHead(): void {
    const end = this.#text.indexOf(HEAD_END);
    if (end === -1) return;
    if (!this.#text.startsWith('HTTP/1.1 200')) this.#head.reject(new Error(this.#text));
    this.#text = this.#text.slice(end);
    this.#hasHead = true;
    this.#head.resolve(undefined);
  }

  #readEvents(): void {
    const complete = this.#text.lastIndexOf(END);
    if (complete === -1) return;
    for (const [, number] of this.#text.slice(0, complete).matchAll(EVENT_ID)) {
      this.#onEvent(Number(number));
    }
    this.#text = this.#text.slice(complete + END.length);
  }
}
