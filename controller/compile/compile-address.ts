import type { Route } from '../../crds/types.ts';
import { matchesDomainPattern } from '../../shared/snapshot/domain-pattern.ts';
import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';
import type { Problem } from '../validate/problem.ts';
import { parseAddress, type Address } from './address.ts';
import { isPublic } from './is-public.ts';
import { andThen, made, invalid, type CompileResult } from './compile-result.ts';
import { isHostNamed, mayHaveHost, type HostRule } from './host-rules.ts';
import { isPublicSuffix } from './public-suffix.ts';
import { namespaceOf } from './resources.ts';
import type { RouteContext } from './route-context.ts';
import { schemeProblem } from './secure-scheme.ts';

const PATH = 'spec.from';

/** Compiles `from`. Some addresses are not allowed for a route. */
export function compileAddress(
  { spec, metadata }: Route,
  { devAllowLoopback, authenticateAddress, hostRules }: RouteContext,
): CompileResult<Address> {
  return andThen(parseAddress(spec.from, PATH), (address) => {
    // Cookies, codes and tokens must not travel in cleartext.
    const problem = isPublic(spec) ? undefined : schemeProblem(address, devAllowLoopback);
    if (problem !== undefined) return invalid(PATH, 'UnsupportedValue', problem);
    if (spec.mcp !== undefined && address.host.startsWith('*.')) {
      return invalid(
        PATH,
        'UnsupportedValue',
        'must not be a wildcard if the route is part of MCP',
      );
    }
    // Attack: a script of an upstream on the sign-in host would share the origin of consent pages.
    if (authenticateAddress !== undefined && covers(address, authenticateAddress)) {
      const message = 'must not include the host of authenticateUrl, which is only for sign-in';
      return invalid(PATH, 'HostConflict', message);
    }
    const refusal = hostRefusal(address.host, namespaceOf({ metadata }), hostRules);
    return refusal === undefined ? made(address) : { kind: 'invalid', problems: [refusal] };
  });
}

/** Returns why routes of a namespace may not use a host. */
function hostRefusal(
  host: string,
  namespace: string,
  rules: readonly HostRule[],
): Problem | undefined {
  if (!mayHaveHost(rules, namespace, host)) {
    const message = `the hostPatterns of the settings do not give ${host} to namespace ${namespace}`;
    return { path: PATH, reason: 'HostNotAllowed', message };
  }
  // Attack: such a wildcard takes every name that nobody has a route for yet, of any owner.
  const isWide = host.startsWith('*.') && isPublicSuffix(host.slice(2));
  if (!isWide || isHostNamed(rules, namespace, host)) return undefined;
  const message = `is too wide: anybody may register names under ${host.slice(2)}`;
  return { path: PATH, reason: 'HostNotAllowed', message };
}

/**
 * Attack: browsers send cookies to every port of a host (RFC 6265, section 8.5). So ports are ignored,
 * except on loopback names, where only ports distinguish hosts.
 */
function covers(address: Address, { host, port }: Address): boolean {
  const isSamePort = address.port === port || !isLoopbackHost(host);
  return isSamePort && matchesDomainPattern(host, [address.host]);
}
