import { Pool } from 'undici';

import { HEADERS, TOOL_CALL } from '../forward/workload.ts';
import { ROUTE_PORT } from './route-port.ts';

const CLIENT_ID = 'bench';
const HOST = `localhost:${String(ROUTE_PORT)}`;

/** Connections to one gateway. */
export class GatewayClient implements AsyncDisposable {
  readonly #pool: Pool;

  constructor(port: number, connections: number) {
    this.#pool = new Pool(`http://127.0.0.1:${String(port)}`, { connections, pipelining: 1 });
  }

  /** Calls a tool, and returns the status. */
  async call(token: string): Promise<number> {
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: '/mcp',
      headers: { ...HEADERS, host: HOST, authorization: `Bearer ${token}` },
      body: TOOL_CALL,
    });
    await body.dump();
    return statusCode;
  }

  /** Calls a tool once with each token, several at a time. Returns the duration of each in milliseconds. */
  async callWithEach(tokens: readonly string[], atOnce: number): Promise<readonly number[]> {
    const waiting = tokens.values();
    const times: number[] = [];
    const worker = async (): Promise<void> => {
      for (const token of waiting) {
        const start = performance.now();
        const status = await this.call(token);
        times.push(performance.now() - start);
        if (status !== 200) throw new Error(`a measured request was answered ${String(status)}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    return times;
  }

  /** Revokes a token (RFC 7009). */
  async revoke(token: string): Promise<void> {
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: '/.gateway/mcp/revoke',
      headers: { host: HOST, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token, client_id: CLIENT_ID }).toString(),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`cannot revoke: ${String(statusCode)} ${text}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.close();
  }
}
