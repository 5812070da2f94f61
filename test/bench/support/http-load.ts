import { LoadConnection, type LoadTarget } from './load-connection.ts';

/** Requests to one measured server. */
export interface LoadOptions extends LoadTarget {
  readonly connections: number;
  /** Complete HTTP/1.1 requests, which are sent in turn. */
  readonly requests: readonly Buffer[];
  /** Every response must be a 200 with a `Content-Length` of this many bytes. */
  readonly responseBytes: number;
}

/** Keep-alive connections that send requests to a measured server. Disposing of it closes them. */
export class HttpLoad implements Disposable {
  readonly #requests: readonly Buffer[];
  readonly #idle: LoadConnection[] = [];
  #connections: readonly LoadConnection[] = [];
  #sent = 0;
  #onResponse: (connection: LoadConnection) => void = () => undefined;
  #onFailure: (error: Error) => void = () => undefined;

  private constructor({ requests }: LoadOptions) {
    this.#requests = requests;
  }

  /** Opens the connections. */
  static async open(options: LoadOptions): Promise<HttpLoad> {
    const load = new HttpLoad(options);
    const listener = {
      responseBytes: options.responseBytes,
      onResponse: (connection: LoadConnection) => load.#onResponse(connection),
      onFailure: (error: Error) => load.#onFailure(error),
    };
    load.#connections = await Promise.all(
      Array.from({ length: options.connections }, () => LoadConnection.open(options, listener)),
    );
    load.#idle.push(...load.#connections);
    return load;
  }

  /** Sends a number of requests as fast as they are answered, with one in flight on each connection. */
  send(count: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    let begun = 0;
    let done = 0;
    const next = (connection: LoadConnection): void => {
      if (begun === count) {
        this.#idle.push(connection);
        return;
      }
      begun += 1;
      connection.send(this.#nextRequest());
    };
    this.#onFailure = reject;
    this.#onResponse = (connection) => {
      done += 1;
      next(connection);
      if (done === count) resolve(undefined);
    };
    for (const connection of this.#idle.splice(0)) next(connection);
    return promise;
  }

  /**
   * Sends a number of requests at a fixed rate, given per millisecond. Returns the milliseconds that each
   * took from the moment at which it was due: one that had to wait because all connections were busy, or
   * because this process was late, is not made to look faster.
   *
   * It asks for the time all the while, since a timer is off by a millisecond. Its process should have
   * the lowest priority, so that it takes nothing from the upstream that shares its core.
   */
  pace(perMillisecond: number, count: number): Promise<readonly number[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
    const latencies: number[] = [];
    const dueOf = new Map<LoadConnection, number>();
    const start = performance.now();
    let sent = 0;
    const sendDue = (): void => {
      const due = Math.min(count, (performance.now() - start) * perMillisecond);
      while (sent < due) {
        const connection = this.#idle.shift();
        if (connection === undefined) break;
        dueOf.set(connection, start + sent / perMillisecond);
        sent += 1;
        connection.send(this.#nextRequest());
      }
      if (sent < count) setImmediate(sendDue);
    };
    this.#onFailure = reject;
    this.#onResponse = (connection) => {
      latencies.push(performance.now() - (dueOf.get(connection) ?? NaN));
      this.#idle.push(connection);
      if (latencies.length === count) resolve(latencies);
    };
    sendDue();
    return promise;
  }

  [Symbol.dispose](): void {
    this.#onFailure = () => undefined;
    for (const connection of this.#connections) connection[Symbol.dispose]();
  }

  #nextRequest(): Buffer {
    const request = this.#requests[this.#sent % this.#requests.length];
    if (request === undefined) throw new Error('a load needs a request');
    this.#sent += 1;
    return request;
  }
}
