import type { Route } from '../../../crds/types.ts';

type RouteSpec = Route['spec'];

const PREFIXES = 200;
/** Regular expressions of one host: as many as it may have for paths of 8,000 characters. */
export const EXPRESSIONS = 8;
const WILDCARDS = 100;

/** Returns routes that make look-ups hard: wildcards and prefixes of every depth, many expressions. */
export function abuseRoutes(port: number, to: string): Readonly<Record<string, RouteSpec>> {
  const at = (name: string, rest: Partial<RouteSpec> = {}): RouteSpec => {
    const from = `http://${name}.localhost:${String(port)}`;
    return { from, to, allowPublicUnauthenticatedAccess: true, ...rest };
  };
  const signedIn = { allowPublicUnauthenticatedAccess: false, allowAnyAuthenticatedUser: true };
  const routes: Record<string, RouteSpec> = {
    single: at('single', { allowWebsockets: true }),
    several: at('several'),
    mcp: at('mcp', { ...signedIn, prefix: '/mcp', mcp: { server: {} } }),
    web: at('web', signedIn),
  };
  for (let index = 0; index < PREFIXES; index += 1) {
    routes[`slashes-${String(index)}`] = at('several', { prefix: '/a'.repeat(index + 1) });
    routes[`segments-${String(index)}`] = at('several', { prefix: `/s0/s${String(index)}` });
  }
  for (let index = 0; index < EXPRESSIONS; index += 1) {
    const regex = `/([a-z]+[A-Z]?[a-z;/]*)*[0-9]{${String(index)}}!|/.*a.*b.*c${String(index)}`;
    routes[`expression-${String(index)}`] = at('expressions', { regex });
  }
  for (let index = 0; index < WILDCARDS; index += 1) {
    routes[`wildcard-${String(index)}`] = at(`*.${'a.'.repeat(index)}wild`);
  }
  return routes;
}
