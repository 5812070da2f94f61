import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { authorityOf } from './address.ts';

/** The serving routes of one authority, by name. */
interface Routes {
  readonly mcp: Set<string>;
  readonly web: Set<string>;
}

/**
 * Finds the MCP routes whose consent pages have the origin of web routes. Attack: the scripts of a web
 * application have the origin of a consent page on the same host. With `authenticateUrl` there is none.
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

  /** Whether a route is an MCP route, and its consent pages have the origin of a web route. */
  isExposed(name: string): boolean {
    if (this.#hasAuthenticateUrl) return false;
    const routes = this.#routes.get(this.#authorities.get(name) ?? '');
    return isShared(routes) && routes?.mcp.has(name) === true;
  }

  /** Returns the routes that may have become exposed, or not exposed, since the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  #add(name: string, authority: string, { mcpServer }: CompiledRoute): void {
    const routes = this.#routes.get(authority) ?? { mcp: new Set(), web: new Set() };
    this.#routes.set(authority, routes);
    (mcpServer === undefined ? routes.web : routes.mcp).add(name);
    this.#authorities.set(name, authority);
  }

  #remove(name: string, authority: string): void {
    const routes = this.#routes.get(authority);
    routes?.mcp.delete(name);
    routes?.web.delete(name);
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
