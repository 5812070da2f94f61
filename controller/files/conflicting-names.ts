import { displayName } from '../validate/resource-id.ts';
import type { Candidate } from './candidates.ts';
import type { LocatedProblem } from './located-problem.ts';

/** Problems of resources that share a name, and of several GatewaySettings. */
export function findConflictingNames(resources: readonly Candidate[]): readonly LocatedProblem[] {
  return [...repeatedNames(resources), ...severalSettings(resources)];
}

function repeatedNames(resources: readonly Candidate[]): readonly LocatedProblem[] {
  const byName = Map.groupBy(resources, nameOfCandidate);
  return [...byName].flatMap(([name, candidates]) => {
    if (name === '' || candidates.length === 1) return [];
    const message = `there are ${String(candidates.length)} resources with this name`;
    return candidates.map((candidate) => problemWith(candidate, message));
  });
}

function severalSettings(resources: readonly Candidate[]): readonly LocatedProblem[] {
  const settings = resources.filter(({ kind }) => kind === 'GatewaySettings');
  if (new Set(settings.map(nameOfCandidate)).size <= 1) return [];
  return settings.map((one) => problemWith(one, 'there can be only one GatewaySettings'));
}

function problemWith(candidate: Candidate, message: string): LocatedProblem {
  const resource = nameOfCandidate(candidate);
  return candidate.locate({ resource, path: '', reason: 'InvalidManifest', message });
}

/** Empty if the name cannot be read. */
function nameOfCandidate({ id }: Candidate): string {
  return id === undefined ? '' : displayName(id);
}
