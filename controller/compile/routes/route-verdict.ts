import { originOf } from '../../../shared/snapshot/origin.ts';
import type { WaitingRoute, RouteVerdict, Served } from '../compilation.ts';
import type { Problem } from '../../validate/problem.ts';
import type { RouteEntry } from './route-entry.ts';
import type { RouteGeneration } from './route-generation.ts';

/** The verdict on a route, as decided last. */
export function verdictOf(entry: RouteEntry, kept: WaitingRoute | undefined): RouteVerdict {
  const { resource, newest, serving } = entry;
  const served = serving && servedOf(serving);
  return {
    resource,
    isAccepted: serving === newest,
    problems: problemsOf(entry),
    ...(served && { served }),
    mcpRole: (serving ?? newest).isMcpServer ? 'server' : '',
    url: serving === undefined ? '' : urlOf(serving),
    ...(kept && { waiting: kept }),
  };
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
    ...newest.resolved.problems,
    // Notes do not make it invalid, and must not look as if they did.
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
