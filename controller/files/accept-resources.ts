import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import { nameOf, type CompileResult } from '../compile/resources.ts';
import type { Problem } from '../validate/problem.ts';
import type { Candidates } from './candidates.ts';
import type { Compile } from './compile.ts';
import { dateRoutes } from './date-routes.ts';
import { sortLocated, type LocatedProblem } from './located-problem.ts';
import { selectResources } from './select-resources.ts';
import { EMPTY_SELECTION, type Selection } from './selection.ts';
import { draftProblems } from './draft-problems.ts';
import { resourcesOf } from './resources-of.ts';

/** What serves, not always the newest version of everything. */
export interface Accepted {
  readonly snapshot: Snapshot;
  readonly selection: Selection;
  /** How many acceptances there were before. */
  readonly round: number;
}

export interface Acceptance {
  /** Undefined while there are no good settings to serve with. */
  readonly accepted: Accepted | undefined;
  /** Everything wrong with the newest versions, in the order of the files. */
  readonly problems: readonly LocatedProblem[];
}

/**
 * Decides what serves after a change: the newest version of each resource where that is good, and
 * else the one that serves already.
 *
 * A bad resource takes neither another one out of service, nor the last good version of itself.
 * Settings that cannot be used together with their Secrets are kept together with them. Pure.
 */
export function acceptResources(
  previous: Accepted | undefined,
  candidates: Candidates,
  compile: Compile,
): Acceptance {
  const serving = previous?.selection ?? EMPTY_SELECTION;
  const round = (previous?.round ?? 0) + 1;
  const { selection, problems } = selectResources(serving, candidates);
  const newest = dateRoutes(serving, selection, round);
  const settings = settleSettings(serving, newest, compile);
  const routes = settleRoutes(serving, settings.selection, compile);
  const drafts = draftProblems(candidates, routes.selection, compile);
  const all = [...problems, ...settings.problems, ...routes.problems, ...drafts];
  const { snapshot, acceptedRoutes } = routes.result;
  if (settings.selection.settings === undefined) {
    return { accepted: undefined, problems: sortLocated(all) };
  }
  const served = [...routes.selection.routes].filter(([, { resource }]) =>
    acceptedRoutes.has(nameOf(resource)),
  );
  const accepted = { snapshot, selection: { ...routes.selection, routes: new Map(served) }, round };
  return { accepted, problems: sortLocated(all) };
}

interface Settled {
  readonly selection: Selection;
  readonly problems: readonly LocatedProblem[];
}

/** Goes back to the settings that serve, and their Secrets, when the newest are not accepted. */
function settleSettings(serving: Selection, newest: Selection, compile: Compile): Settled {
  if (newest.settings === undefined) return { selection: newest, problems: [] };
  const { settingsAccepted, problems } = compile(resourcesOf(newest));
  if (settingsAccepted) return { selection: newest, problems: [] };
  const name = `GatewaySettings ${nameOf(newest.settings.resource)}`;
  const { settings, secrets } = serving;
  return {
    selection: { ...newest, settings, secrets },
    problems: locateAll(
      newest,
      problems.filter(({ resource }) => resource === name),
    ),
  };
}

/**
 * Goes back to the version that serves, for each route whose newest is not accepted. That may
 * refuse others, which asked for what the newest version gave up: they go back in turn.
 */
function settleRoutes(
  serving: Selection,
  selection: Selection,
  compile: Compile,
): Settled & { readonly result: CompileResult } {
  const result = compile(resourcesOf(selection));
  const problems = locateAll(selection, result.problems);
  const refused = [...selection.routes].flatMap(([name, { resource }]) => {
    const before = serving.routes.get(name);
    const isRefused = !result.acceptedRoutes.has(nameOf(resource));
    return isRefused && before !== undefined && before.resource !== resource
      ? [[name, before] as const]
      : [];
  });
  if (refused.length === 0) return { selection, problems, result };
  const names = new Set(refused.map(([name]) => name));
  const next = { ...selection, routes: new Map([...selection.routes, ...refused]) };
  const settled = settleRoutes(serving, next, compile);
  // What is wrong with the newest version is what its author wants to know.
  const own = problems.filter(({ resource }) => names.has(resource));
  const others = settled.problems.filter(({ resource }) => !names.has(resource));
  return { ...settled, problems: [...own, ...others] };
}

function locateAll(
  { routes, settings }: Selection,
  problems: readonly Problem[],
): readonly LocatedProblem[] {
  return problems.map((problem) => {
    const found = routes.get(problem.resource) ?? settings;
    return found === undefined ? { ...problem, file: '' } : found.locate(problem);
  });
}
