import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { eventually } from '../eventually.ts';

interface LiveSessionOptions {
  readonly url: string;
  /** Needed by a route that is not public. */
  readonly token?: string;
  readonly fetch: typeof fetch;
}

/** An MCP session of a client on the official SDK, which listens to the numbers of a `ResumableMcpServer`. */
export class LiveSession implements AsyncDisposable {
  readonly #client = new Client({ name: 'live', version: '1' });
  readonly #transport: StreamableHTTPClientTransport;
  readonly #numbers = new Set<number>();

  private constructor({ url, token, fetch }: LiveSessionOptions) {
    this.#transport = new StreamableHTTPClientTransport(new URL(url), {
      fetch,
      requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
      // The client of the SDK gives up after two tries.
      reconnectionOptions: {
        initialReconnectionDelay: 100,
        maxReconnectionDelay: 1000,
        reconnectionDelayGrowFactor: 1.5,
        maxRetries: 20,
      },
    });
    this.#client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      this.#numbers.add(Number(params.data));
    });
  }

  /** Begins a session, and waits until it hears the server. */
  static async begin(options: LiveSessionOptions): Promise<LiveSession> {
    const session = new LiveSession(options);
    await session.#client.connect(session.#transport);
    await eventually('the session hears its server', () => session.#numbers.size > 0);
    return session;
  }

  get id(): string {
    return this.#transport.sessionId ?? '';
  }

  /** Calls the tool `whoami`. Rejects if it fails. */
  async callTool(): Promise<void> {
    const result = await this.#client.callTool({ name: 'whoami', arguments: {} });
    if (result.isError === true) throw new Error(JSON.stringify(result));
  }

  /** Waits until it heard the last number, and returns those that it missed. */
  async missedUpTo(last: number): Promise<readonly number[]> {
    await eventually(`the session hears ${String(last)}`, () => this.#numbers.has(last));
    const first = Math.min(...this.#numbers);
    return Array.from({ length: last - first }, (_, index) => first + index).filter(
      (number) => !this.#numbers.has(number),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }
}
