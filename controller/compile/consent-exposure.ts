import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { authorityOf } from './address.ts';

/** The serving routes of one authority, by name. */
interface Routes {
  readonly mcp: Set<string>;
  readonly web: Set<string>;
  /** The MCP routes whose users connect. */
  readonly connecting: Set<string>;
}

/**
 * Finds the MCP routes whose consent pages, or the callback of users who connect, have the origin of web routes.
 *
 * Attack: scripts of the same origin can plant cookies. With a session of the attacker, and the cookie that binds
 * a connection to a browser, a user connects an account of theirs to the attacker. With `authenticateUrl` there is
 * no consent page on the host, but there is the callback.
 */
export class ConsentExposure {
  readonly #routes = new Map<string, Routes>();
  readonly #authorities = new Map<string, string>();
  #changed = new Set<string>();
  #hasAuthenticateUrl = false;

  /** Whether users consent on a host without routes. */
  setAuthenticateUrl(isPresent: boolean): void {
    if (isPresent === this.#hasAuthenticateUrl) return;
    this.#hasAuthenticateUrl = isPresent;
    for (const routes of this.#routes.values()) if (isShared(routes)) this.#change(routes);
  }

  /** Replaces the serving route of a name; undefined: none serves. */
  set(name: string, route: CompiledRoute | undefined): void {
    const before = this.#authorities.get(name);
    const now = route && authorityOf(route);
    const both = [...new Set([before, now])].flatMap((authority) => authority ?? []);
    const wereShared = both.map((authority) => isShared(this.#routes.get(authority)));
    if (before !== undefined) this.#remove(name, before);
    if (route !== undefined && now !== undefined) this.#add(name, now, route);
    for (const [index, authority] of both.entries()) {
      const routes = this.#routes.get(authority);
      if (routes !== undefined && isShared(routes) !== wereShared[index]) this.#change(routes);
    }
  }

  /** Whether a route is an MCP route, and its consent pages or callback have the origin of a web route. */
  isExposed(name: string): boolean {
    const routes = this.#routes.get(this.#authorities.get(name) ?? '');
    if (routes === undefined || !isShared(routes)) return false;
    return (this.#hasAuthenticateUrl ? routes.connecting : routes.mcp).has(name);
  }

  /** Returns the routes that may have become exposed, or not exposed, since the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  #add(name: string, authority: string, { mcpServer }: CompiledRoute): void {
    const none = { mcp: new Set<string>(), web: new Set<string>(), connecting: new Set<string>() };
    const routes = this.#routes.get(authority) ?? none;
    this.#routes.set(authority, routes);
    if (mcpServer?.upstreamOAuth !== undefined) routes.connecting.add(name);
    (mcpServer === undefined ? routes.web : routes.mcp).add(name);
    this.#authorities.set(name, authority);
  }

  #remove(name: string, authority: string): void {
    const routes = this.#routes.get(authority);
    routes?.mcp.delete(name);
    routes?.web.delete(name);
    routes?.connecting.delete(name);
    if (routes?.mcp.size === 0 && routes.web.size === 0) this.#routes.delete(authority);
    this.#authorities.delete(name);
  }

  #change({ mcp }: Routes): void {
    for (const name of mcp) this.#changed.add(name);
  }
}

function isShared(routes: Routes | undefined): boolean {
  return routes !== undefined && routes.mcp.size > 0 && routes.web.size > 0;
}
