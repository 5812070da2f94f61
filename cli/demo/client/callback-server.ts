import type { ServerResponse } from 'node:http';

import { html } from '../../../proxy/http/html.ts';
import { page } from '../../../proxy/pages/layout.ts';
import { ANY_PORT, startLoopbackServer } from '../loopback-server.ts';

const CALLBACK_PATH = '/callback';

/** Waits for the browser to come back from the gateway. */
export interface CallbackServer extends AsyncDisposable {
  readonly redirectUrl: string;
  /** The parameters that the browser brings; rejects when the signal is aborted. */
  waitForCallback(signal: AbortSignal): Promise<URLSearchParams>;
}

/** Starts a callback server on a free port of the loopback address (RFC 8252, section 7.3). */
export async function startCallbackServer(): Promise<CallbackServer> {
  const arrival = Promise.withResolvers<URLSearchParams>();
  const server = await startLoopbackServer(ANY_PORT, (origin) => (request, response) => {
    const url = new URL(request.url ?? '/', origin);
    if (url.pathname !== CALLBACK_PATH) {
      response.writeHead(404).end();
      return;
    }
    respond(response);
    arrival.resolve(url.searchParams);
  });
  const { port } = new URL(server.origin);
  return {
    redirectUrl: `http://127.0.0.1:${port}${CALLBACK_PATH}`,
    waitForCallback: (signal) => Promise.race([arrival.promise, rejectOnAbort(signal)]),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

function respond(response: ServerResponse): void {
  const { status, headers, body } = page(200, {
    title: 'Back in the terminal',
    content: html`<p>The demo client continues there. You can close this window.</p>`,
  });
  response.writeHead(status, headers).end(body);
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('the sign-in was not finished in time'));
    });
  });
}
