import type { Problem } from '../validate/problem.ts';
import type { Resource } from '../validate/validate-resource.ts';
import type { Candidate, Candidates } from './candidates.ts';
import type { LocatedProblem } from './located-problem.ts';
import type { Selected, Selection } from './selection.ts';

/** What is to be compiled together, and what is wrong with the newest versions. */
export interface Selecting {
  readonly selection: Selection;
  readonly problems: readonly LocatedProblem[];
}

/**
 * Picks the newest version of each resource where that is valid, and else the one that serves.
 *
 * What vanished is gone, but not while it may be what its author meant by something that cannot be
 * read: a file with broken YAML keeps all it had. Resources that share a name are left alone, since
 * there is no telling which one is meant; so are several GatewaySettings.
 */
export function selectResources(serving: Selection, candidates: Candidates): Selecting {
  const { resources, brokenFiles } = candidates;
  const unreadable = resources.filter(({ kind, name }) => kind === undefined || name === undefined);
  const held = new Set([...brokenFiles.keys(), ...unreadable.map(({ file }) => file)]);
  const settings = selectSettings(serving.settings, resources);
  const isNewest = settings.selected !== serving.settings;
  return {
    selection: {
      routes: selectNamed(serving.routes, ofKind('Route', resources), held),
      settings: settings.selected,
      // A secret of other settings may belong to another identity provider.
      secrets: isNewest
        ? selectNamed(serving.secrets, ofKind('Secret', resources), held)
        : serving.secrets,
    },
    problems: [
      ...[...brokenFiles.values()].flat(),
      ...resources.flatMap(({ problems }) => problems),
      ...repetitions(resources),
      ...settings.problems,
    ],
  };
}

function selectNamed<R extends Resource>(
  serving: ReadonlyMap<string, Selected<R>>,
  candidates: readonly Named<R>[],
  held: ReadonlySet<string>,
): ReadonlyMap<string, Selected<R>> {
  const byName = Map.groupBy(candidates, ({ name }) => name);
  const newest = [...byName].flatMap(([name, versions]) => {
    const [only] = versions;
    const isGood = versions.length === 1 && only?.resource !== undefined;
    const selected = isGood ? { ...only, resource: only.resource } : serving.get(name);
    return selected === undefined ? [] : [[name, selected] as const];
  });
  const kept = [...serving].filter(([name, { file }]) => !byName.has(name) && held.has(file));
  return new Map([...newest, ...kept]);
}

interface SelectedSettings {
  readonly selected: Selection['settings'];
  readonly problems: readonly LocatedProblem[];
}

function selectSettings(
  serving: Selection['settings'],
  resources: readonly Candidate[],
): SelectedSettings {
  const all = resources.filter(({ kind }) => kind === 'GatewaySettings');
  const names = new Set(all.map(({ name }) => name));
  if (names.size > 1) {
    const message = 'there can be only one GatewaySettings';
    return { selected: serving, problems: all.map((one) => problemWith(one, message)) };
  }
  const [only] = all;
  const isGood = all.length === 1 && only?.resource?.kind === 'GatewaySettings';
  return { selected: isGood ? { ...only, resource: only.resource } : serving, problems: [] };
}

function repetitions(resources: readonly Candidate[]): readonly LocatedProblem[] {
  const byName = Map.groupBy(resources, ({ name }) => name);
  return [...byName].flatMap(([name, versions]) => {
    if (name === undefined || versions.length === 1) return [];
    const message = `there are ${String(versions.length)} resources of this name`;
    return versions.map((version) => problemWith(version, message));
  });
}

function problemWith({ name = '', locate }: Candidate, message: string): LocatedProblem {
  const problem: Problem = { resource: name, path: '', reason: 'InvalidManifest', message };
  return locate(problem);
}

interface Named<R extends Resource> extends Omit<Candidate, 'resource'> {
  readonly name: string;
  readonly resource: R | undefined;
}

function ofKind<K extends Resource['kind']>(
  kind: K,
  resources: readonly Candidate[],
): readonly Named<Extract<Resource, { kind: K }>>[] {
  return resources.flatMap((candidate) => {
    const { name, resource } = candidate;
    if (name === undefined || candidate.kind !== kind) return [];
    // A candidate's kind is that of its resource.
    const own = resource as Extract<Resource, { kind: K }> | undefined;
    return [{ ...candidate, name, resource: own }];
  });
}
