import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { endWithResponse } from '../../proxy/http/raw-response.ts';
import type { ConnectionCounter } from '../../proxy/server/connection-counter.ts';
import type { ListenerLimits } from '../../proxy/server/connections.ts';
import { FrontMessage } from '../../proxy/server/front-message.ts';
import { FrontResponse } from '../../proxy/server/front-response.ts';
import { createListener, type Listener } from '../../proxy/server/listener.ts';

/** Limits that no test reaches by chance. */
export const LISTENER_LIMITS: ListenerLimits = {
  headersMs: 10_000,
  bodyStallMs: 10_000,
  keepAliveMs: 10_000,
  lingerMs: 200,
  lingerBytes: 256 * 1024 * 1024,
};

type Exchange = [IncomingMessage, ServerResponse];

/** A listener, and the requests that it serves. */
interface TestListener extends Listener, AsyncDisposable {
  /** Number of requests that `next` has not returned yet. */
  readonly waiting: number;
  next(): Promise<Exchange>;
}

/** A listener that hands its requests to the test. */
export async function startListener(
  limits: Partial<ListenerLimits> = {},
  counter?: ConnectionCounter,
): Promise<TestListener> {
  const exchanges: Exchange[] = [];
  const arrivals = new EventEmitter();
  const listener = await createListener(
    { host: '127.0.0.1', port: 0 },
    {
      admit: (address) => counter?.admit(address) ?? true,
      release: (address) => counter?.release(address),
      request(message, response) {
        if (!(message instanceof FrontMessage && response instanceof FrontResponse)) return;
        exchanges.push([message, response]);
        arrivals.emit('request');
      },
      upgrade(_message, socket) {
        endWithResponse(socket, { status: 403, headers: { 'x-list': ['a', 'b'] }, body: 'no' });
      },
    },
    { ...LISTENER_LIMITS, ...limits },
  );
  return {
    ...listener,
    get waiting() {
      return exchanges.length;
    },
    async next() {
      for (;;) {
        const exchange = exchanges.shift();
        if (exchange !== undefined) return exchange;
        await once(arrivals, 'request');
      }
    },
    [Symbol.asyncDispose]: () => listener.close(0),
  };
}
