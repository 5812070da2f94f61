import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';

import { connect } from './admin-client.ts';
import { ApiStatusError } from './api-status-error.ts';

/** A line of a watch, as it came. */
export interface WatchLine {
  readonly type: string;
  readonly object: {
    readonly kind?: string;
    readonly code?: number;
    readonly reason?: string;
    readonly metadata: { readonly name?: string; readonly resourceVersion: string };
  };
}

/** A watch under way. Disposing of it breaks it. */
export interface OpenWatch extends AsyncDisposable {
  /** The next line; undefined when the server has ended the watch. */
  next(): Promise<WatchLine | undefined>;
}

/**
 * Begins a watch, with all of its query in `path`, as the user of a kubeconfig file. Rejects with an
 * `ApiStatusError` when the server refuses it.
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
      // What an API server sends as a line of a watch.
      return line.done === true ? undefined : (JSON.parse(line.value) as WatchLine);
    },
    [Symbol.asyncDispose]: async () => {
      // What breaks by the next line is no news.
      body.on('error', () => undefined);
      await pool.destroy();
    },
  };
}
