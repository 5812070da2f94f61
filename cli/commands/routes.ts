import type { Arguments } from '../arguments.ts';
import { formatValue, readOutput } from '../cluster/output.ts';
import { readRouteFacts } from '../cluster/read-routes.ts';
import { routesTable, routeValue } from '../cluster/render-routes.ts';
import type { RouteFacts } from '../cluster/route-facts.ts';
import type { CommandStreams } from '../command.ts';
import { DEFAULT_NAMESPACE } from '../explain/route-name.ts';
import { openClusterSource } from '../explain/route-source.ts';
import { readNamespaceFlags } from '../flags/cluster-flags.ts';
import { matchesDomainPattern } from '../../shared/snapshot/domain-pattern.ts';
import { ROUTES_FORMS } from './routes/routes-flags.ts';

/** Runs `gatehouse routes`. Resolves with 0 also if Routes have problems: `gatehouse status` decides. */
export async function runRoutes(
  flags: Arguments,
  { environment, stdout, stderr }: CommandStreams,
): Promise<number> {
  const form = readOutput(flags, ROUTES_FORMS);
  const choice = readNamespaceFlags(flags);
  const { api, gatewayClass, namespace: usual } = await openClusterSource(flags, environment);
  const one = choice.kind === 'one' ? choice.namespace : (usual ?? DEFAULT_NAMESPACE);
  const namespace = choice.kind === 'all' ? undefined : one;
  const now = Date.now();
  const all = await readRouteFacts(api, { namespace, gatewayClass, now });
  const routes = all.filter((route) => isAskedFor(route, flags));
  if (form === 'json' || form === 'yaml') {
    stdout.write(await formatValue(routes.map(routeValue), form));
  } else if (routes.length === 0) {
    // As `kubectl` does, so that a script reads an empty output.
    const where = namespace === undefined ? '' : ` in the namespace ${namespace}`;
    stderr.write(`No Routes found${where}.\n`);
  } else {
    stdout.write(routesTable(routes, { isWide: form === 'wide', namespace, now }));
  }
  return 0;
}

function isAskedFor({ from, state }: RouteFacts, flags: Arguments): boolean {
  const host = flags.text('host');
  if (flags.isOn('problems') && state !== 'problem') return false;
  if (host === undefined) return true;
  const own = URL.parse(from)?.hostname;
  return own !== undefined && matchesDomainPattern(host, [own]);
}
