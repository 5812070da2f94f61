import { Pool } from 'undici';

import { HEADERS, TOOL_CALL } from './workload.ts';

export interface Load {
  readonly port: number;
  readonly tokens: readonly string[];
  readonly requests: number;
  readonly connections: number;
}

/** Sends a fixed number of requests, with one in flight on each connection. */
export async function sendLoad({ port, tokens, requests, connections }: Load): Promise<void> {
  await using pool = new DisposablePool(port, connections);
  let sent = 0;
  const client = async (): Promise<void> => {
    while (sent < requests) {
      const token = tokens[sent % Math.max(tokens.length, 1)] ?? 'none';
      sent += 1;
      await pool.call(token);
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
}

class DisposablePool implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #host: string;

  constructor(port: number, connections: number) {
    this.#host = `localhost:${String(port)}`;
    this.#pool = new Pool(`http://127.0.0.1:${String(port)}`, { connections, pipelining: 1 });
  }

  async call(token: string): Promise<void> {
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: '/mcp',
      headers: { ...HEADERS, host: this.#host, authorization: `Bearer ${token}` },
      body: TOOL_CALL,
    });
    const text = await body.text();
    if (statusCode !== 200 || text.includes('"error"')) {
      throw new Error(`a measured request was answered ${String(statusCode)}: ${text}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.close();
  }
}
