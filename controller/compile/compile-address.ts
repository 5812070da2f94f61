import type { Route } from '../../crds/types.ts';
import { matchesDomainPattern } from '../../shared/snapshot/domain-pattern.ts';
import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';
import { parseAddress, type Address } from './address.ts';
import { isPublic } from './is-public.ts';
import { andThen, made, invalid, type CompileResult } from './compile-result.ts';
import type { RouteContext } from './route-context.ts';
import { schemeProblem } from './secure-scheme.ts';

const PATH = 'spec.from';

/** Compiles `from`. Some addresses are not allowed for a route. */
export function compileAddress(
  spec: Route['spec'],
  { devAllowLoopback, authenticateAddress }: RouteContext,
): CompileResult<Address> {
  return andThen(parseAddress(spec.from, PATH), (address) => {
    // Cookies, codes and tokens must not travel in cleartext.
    const problem = isPublic(spec) ? undefined : schemeProblem(address, devAllowLoopback);
    if (problem !== undefined) return invalid(PATH, 'UnsupportedValue', problem);
    if (spec.mcp !== undefined && address.host.startsWith('*.')) {
      return invalid(
        PATH,
        'UnsupportedValue',
        'must not be a wildcard if the route is an MCP server',
      );
    }
    // Attack: a script of an upstream on the sign-in host would share the origin of consent pages.
    if (authenticateAddress !== undefined && covers(address, authenticateAddress)) {
      const message = 'must not include the host of authenticateUrl, which is only for sign-in';
      return invalid(PATH, 'HostConflict', message);
    }
    return made(address);
  });
}

/**
 * Attack: browsers send cookies to every port of a host (RFC 6265, section 8.5). So ports are ignored,
 * except on loopback names, where only ports distinguish hosts.
 */
function covers(address: Address, { host, port }: Address): boolean {
  const isSamePort = address.port === port || !isLoopbackHost(host);
  return isSamePort && matchesDomainPattern(host, [address.host]);
}
