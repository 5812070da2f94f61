import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';

import { connect } from './admin-client.ts';
import { ApiStatusError } from './api-status-error.ts';

/** A line of a watch, as received. */
export interface WatchLine {
  readonly type: string;
  readonly object: {
    readonly kind?: string;
    readonly code?: number;
    readonly reason?: string;
    readonly metadata: { readonly name?: string; readonly resourceVersion: string };
  };
}

/** An open watch. Disposing of it breaks the connection. */
export interface OpenWatch extends AsyncDisposable {
  /** Returns the next line; undefined if the server has ended the watch. */
  next(): Promise<WatchLine | undefined>;
}

/**
 * Opens a watch, with its whole query in `path`, as the user of a kubeconfig file. Rejects with an
 * `ApiStatusError` if the server refuses it.
 */
export async function openWatch(kubeconfig: string, path: string): Promise<OpenWatch> {
  const { server, headers, pool } = await connect(kubeconfig);
  const { statusCode, body } = await pool.request({
    method: 'GET',
    path: `${server.pathname.replace(/\/$/, '')}${path}`,
    headers: { accept: 'application/json', ...headers },
  });
  if (statusCode !== 200) {
    const status = await json(body);
    await pool.destroy();
    throw new ApiStatusError(statusCode, status);
  }
  const lines = createInterface({ input: body })[Symbol.asyncIterator]();
  return {
    next: async () => {
      const line = await lines.next();
      // An API server sends lines of this form.
      return line.done === true ? undefined : (JSON.parse(line.value) as WatchLine);
    },
    [Symbol.asyncDispose]: async () => {
      // An error is reported by the next line that is read.
      body.on('error', () => undefined);
      await pool.destroy();
    },
  };
}
