import { isRecord } from '../../../shared/runtime/is-record.ts';

/** An MCP server of the user. */
export interface AvailableServer {
  readonly name: string;
  readonly url: string;
  readonly connected: boolean;
  /** Absent if there is nothing to connect. */
  readonly connectUrl?: string;
}

/** What the gateway offers to the backend of an application, with the token of the present request. */
export class GatewayApi {
  readonly #origin: string;
  readonly #authorization: string;

  /** `authorization` is the header field as the gateway sent it. */
  constructor(origin: string, authorization: string) {
    this.#origin = origin;
    this.#authorization = authorization;
  }

  /** Returns the MCP servers that the user may use. */
  async servers(): Promise<readonly AvailableServer[]> {
    return readServers(await this.#ask('/.gateway/mcp/routes', {}));
  }

  /** Ends the connection of the user to an MCP server. */
  async disconnect(url: string): Promise<void> {
    await this.#ask('/.gateway/mcp/disconnect', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ routes: [url] }),
    });
  }

  async #ask(path: string, init: RequestInit): Promise<unknown> {
    const headers = new Headers(init.headers);
    headers.set('authorization', this.#authorization);
    headers.set('accept', 'application/json');
    const response = await fetch(this.#origin + path, { ...init, headers });
    if (response.ok) return response.json();
    throw new Error(`the gateway answers ${path} with ${String(response.status)}`);
  }
}

function readServers(answer: unknown): readonly AvailableServer[] {
  const servers = isRecord(answer) ? answer['servers'] : undefined;
  if (!Array.isArray(servers)) throw new Error('the gateway answers with no list of servers');
  return servers.filter(isRecord).map(({ name, url, connected, connect_url: connectUrl }) => ({
    name: String(name),
    url: String(url),
    connected: connected === true,
    ...(typeof connectUrl === 'string' && { connectUrl }),
  }));
}
