import { send, type Answer, type RequestOptions } from '../http-client.ts';
import { Member } from './member.ts';

/** What a proxy serves, as it shows it: no values. */
export interface ServedSnapshot {
  /** `epoch.sequence`; undefined before the first snapshot. */
  readonly position?: string;
  readonly version: string | null;
  readonly resources: readonly { readonly key: string; readonly hash: string }[];
}

/** A `gatehouse proxy`. */
export class ProxyMember extends Member {
  /** Sends a request for a host to this proxy. */
  async ask(host: string, path = '/', options: RequestOptions = {}): Promise<Answer> {
    const headers = { host, ...options.headers };
    return send(`http://127.0.0.1:${String(await this.port())}${path}`, { ...options, headers });
  }

  /** Where it takes requests, once it does. */
  async port(): Promise<number> {
    const { addresses } = await this.logged('listening');
    return portOf(Array.isArray(addresses) ? addresses[0] : undefined);
  }

  /** The status of an answer, or 0 when it does not take the request. */
  async status(host: string, path = '/'): Promise<number> {
    if (!this.hasLogged('listening')) return 0;
    try {
      return (await this.ask(host, path)).status;
    } catch {
      return 0;
    }
  }

  /** An answer of its admin port. */
  async admin(path: '/livez' | '/readyz' | '/debug/snapshot'): Promise<Answer> {
    const { admin } = await this.logged('started');
    return send(`http://${String(admin)}${path}`);
  }

  async served(): Promise<ServedSnapshot> {
    const { body } = await this.admin('/debug/snapshot');
    // As the admin server writes it.
    return JSON.parse(body) as ServedSnapshot;
  }

  /** The hash of what it serves under a key; undefined: nothing. */
  async hashOf(key: string): Promise<string | undefined> {
    const { resources } = await this.served();
    return resources.find((resource) => resource.key === key)?.hash;
  }
}

/** The port in `host:port`. */
export function portOf(address: unknown): number {
  const port = typeof address === 'string' ? /:(\d+)$/.exec(address)?.[1] : undefined;
  if (port === undefined) throw new Error(`no address with a port: ${String(address)}`);
  return Number(port);
}
