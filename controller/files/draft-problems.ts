import type { Problem } from '../validate/problem.ts';
import type { Resource } from '../validate/validate-resource.ts';
import type { Candidate, Candidates } from './candidates.ts';
import type { Compile } from './compile.ts';
import type { LocatedProblem } from './located-problem.ts';
import { resourcesOf } from './resources-of.ts';
import { EMPTY_SELECTION, type Selected, type Selection } from './selection.ts';

/**
 * What a compiler finds wrong with resources that are refused already, so that their authors learn
 * everything at once.
 */
export function draftProblems(
  { resources }: Candidates,
  selection: Selection,
  compile: Compile,
): readonly LocatedProblem[] {
  const drafts = resources.filter(({ draft }) => draft !== undefined);
  if (drafts.length === 0) return [];
  const routes = selectAll(drafts, 'Route', ({ draft }) => draft);
  const [settings] = selectAll(drafts, 'GatewaySettings', ({ draft }) => draft).values();
  const secrets = selectAll(resources, 'Secret', ({ resource }) => resource);
  const found = [
    ...compile(resourcesOf({ ...selection, routes })).problems,
    ...(settings === undefined
      ? []
      : compile(resourcesOf({ ...EMPTY_SELECTION, settings, secrets })).problems),
  ];
  return drafts.flatMap(({ name, locate }) =>
    found.filter(({ resource }: Problem) => resource === name).map(locate),
  );
}

function selectAll<K extends Resource['kind']>(
  candidates: readonly Candidate[],
  kind: K,
  versionOf: (candidate: Candidate) => Resource | undefined,
): ReadonlyMap<string, Selected<Extract<Resource, { kind: K }>>> {
  const entries = candidates.flatMap((candidate) => {
    const resource = versionOf(candidate);
    if (resource?.kind !== kind || candidate.name === undefined) return [];
    // The kind has just been compared.
    const own = resource as Extract<Resource, { kind: K }>;
    return [[candidate.name, { ...candidate, resource: own }] as const];
  });
  return new Map(entries);
}
