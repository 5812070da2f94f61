import { originOf } from '../../../shared/snapshot/origin.ts';
import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import type { WaitingRoute, RouteVerdict, Served } from '../compilation.ts';
import { upstreamAuthVerdict } from '../upstream-auth-verdict.ts';
import type { Problem } from '../../validate/problem.ts';
import type { RouteEntry } from './route-entry.ts';
import type { RouteGeneration } from './route-generation.ts';

/** What a verdict depends on besides the route. */
interface Surroundings {
  readonly waiting: WaitingRoute | undefined;
  readonly isConsentExposed: boolean;
  /** Domains that discovery for upstreams may ask. */
  readonly asMetadataDomains: readonly string[];
}

/** Returns the verdict on a route, from its last decision. */
export function verdictOf(
  entry: RouteEntry,
  { waiting, isConsentExposed, asMetadataDomains }: Surroundings,
): RouteVerdict {
  const { resource, newest, serving } = entry;
  const served = serving && servedOf(serving);
  const upstreamAuth = upstreamAuthVerdict(serving?.compiled, asMetadataDomains);
  return {
    resource,
    isAccepted: serving === newest,
    problems: problemsOf(entry),
    ...(served && { served }),
    mcpRole: (serving ?? newest).mcpRole,
    url: serving === undefined ? '' : urlOf(serving),
    ...uninspectedPathsOf(serving?.compiled),
    ...(isConsentExposed && { isConsentExposed }),
    ...(upstreamAuth && { upstreamAuth }),
    ...(serving && serving.certificates.length > 0 && { certificates: serving.certificates }),
    ...(waiting && { waiting }),
  };
}

function uninspectedPathsOf(
  compiled: CompiledRoute | undefined,
): Pick<RouteVerdict, 'uninspectedPaths'> {
  const subPaths = compiled?.mcpServer?.subPaths?.filter(({ inspected }) => !inspected) ?? [];
  if (compiled === undefined || subPaths.length === 0) return {};
  return { uninspectedPaths: subPaths.map(({ path }) => compiled.path.value + path) };
}

/** Everything wrong with the newest generation. */
function problemsOf({
  isAdmitted,
  namespace,
  newest,
  serving,
  conflict,
}: RouteEntry): readonly Problem[] {
  const message = `the gateway does not admit routes of namespace ${namespace}`;
  return [
    ...(isAdmitted
      ? []
      : [{ path: 'metadata.namespace', reason: 'NotAllowedByGateway' as const, message }]),
    ...newest.problems,
    ...(conflict === undefined ? [] : [conflict]),
    ...newest.referenceProblems,
    // Notes do not make it invalid, so they are left out where they would look like the reason.
    ...(serving === newest ? newest.resolved.notes : []),
  ];
}

function servedOf({ number, spec, resource }: RouteGeneration): Served | undefined {
  return resource && { generation: number, spec, key: resource.key, hash: resource.hash };
}

function urlOf({ compiled }: RouteGeneration): string {
  if (compiled === undefined) return '';
  const { path } = compiled;
  return originOf(compiled) + (path.kind === 'regex' ? '' : path.value);
}
