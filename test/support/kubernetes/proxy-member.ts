import { send, type Answer, type RequestOptions } from '../http-client.ts';
import { Member } from './member.ts';

/** The snapshot that a proxy serves, as `/debug/snapshot` shows it: without values. */
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

  /** Address of its listener, once it listens. */
  async port(): Promise<number> {
    const { addresses } = await this.logged('listening');
    return portOf(Array.isArray(addresses) ? addresses[0] : undefined);
  }

  /** Returns the status of a response, or 0 if the proxy does not accept the request. */
  async status(host: string, path = '/'): Promise<number> {
    if (!this.hasLogged('listening')) return 0;
    try {
      return (await this.ask(host, path)).status;
    } catch {
      return 0;
    }
  }

  /** Returns a response of its admin port. */
  async admin(path: '/livez' | '/readyz' | '/debug/snapshot'): Promise<Answer> {
    const { admin } = await this.logged('started');
    return send(`http://${String(admin)}${path}`);
  }

  async served(): Promise<ServedSnapshot> {
    const { body } = await this.admin('/debug/snapshot');
    // The admin server writes this form.
    return JSON.parse(body) as ServedSnapshot;
  }

  /** Returns the hash of the resource that it serves under a key; undefined if there is none. */
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
