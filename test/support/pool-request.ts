import { ConnectionPool } from '../../proxy/upstream-client/connection-pool.ts';
import type { OutgoingRequest } from '../../proxy/upstream-client/outgoing-request.ts';
import type { ResponseControl } from '../../proxy/upstream-client/response-handler.ts';

/** A response as a pool reported it. */
export interface PooledResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly trailers: readonly string[];
}

/** A request that was given to a pool. */
export interface PooledRequest {
  readonly response: Promise<PooledResponse>;
  /** Settles when the request has a connection. */
  readonly control: Promise<ResponseControl>;
  /** What was reported up to now, in order. */
  readonly events: readonly string[];
}

/** Sends a request, a GET without a body by default, and keeps all that is reported. */
export function sendThrough(
  pool: ConnectionPool,
  changes: Partial<OutgoingRequest> & { readonly isWanted?: () => boolean } = {},
): PooledRequest {
  const { isWanted = () => true, ...given } = changes;
  const response = Promise.withResolvers<PooledResponse>();
  const control = Promise.withResolvers<ResponseControl>();
  const events: string[] = [];
  const chunks: Buffer[] = [];
  let head: Pick<PooledResponse, 'status' | 'headers'> = { status: 0, headers: [] };
  // A test may look at one of them only.
  response.promise.catch(() => undefined);
  const request: OutgoingRequest = {
    ...{ method: 'GET', path: '/', host: 'server.test', headers: [], body: undefined },
    responseTimeoutMs: 0,
    ...given,
  };
  pool.send(request, {
    onRequestStart(given) {
      events.push('start');
      control.resolve(given);
      return isWanted();
    },
    onInformation: (status) => events.push(`information ${String(status)}`),
    onResponseStart(status, _reason, headers) {
      events.push(`response ${String(status)}`);
      head = { status, headers };
    },
    onResponseData: (chunk) => chunks.push(Buffer.from(chunk)),
    onResponseEnd(trailers) {
      events.push('end');
      response.resolve({ ...head, body: Buffer.concat(chunks), trailers });
    },
    onResponseError(error) {
      events.push('error');
      response.reject(error);
    },
  });
  return { response: response.promise, control: control.promise, events };
}

/** A pool for a port of this machine, destroyed at its end. */
export class TestPool extends ConnectionPool implements Disposable {
  constructor(port: number, { isTls = false, host = '127.0.0.1' } = {}) {
    super({ isTls, host, port });
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}
