import type { CompileOptions } from '../compile/resources.ts';
import type { Candidate, Candidates } from './candidates.ts';
import { FileCompiler } from './file-compiler.ts';
import type { LocatedProblem } from './located-problem.ts';
import { PLACEHOLDER_SETTINGS } from './placeholder-settings.ts';
import { findVersions, type Versions } from './versions.ts';

/** The result of compiling the settings of the files. */
export interface SettingsState {
  readonly isAccepted: boolean;
  /** Whether any settings serve. Without them no route is compiled. */
  readonly isServing: boolean;
}

/**
 * Compiles resources that are rejected already, or that were not compiled without settings, so that
 * their authors see all problems at once. The result does not serve.
 */
export function findDraftProblems(
  { resources, brokenFiles }: Candidates,
  { isAccepted, isServing }: SettingsState,
  options: CompileOptions,
): readonly LocatedProblem[] {
  const drafts = resources.map(withDraft);
  const versions = findVersions({ resources: drafts, brokenFiles });
  const routes = [...versions.routes].filter(
    ([, version]) => version.kind === 'readable' && (!isServing || isDraft(version.candidate)),
  );
  return [
    ...(resources.some(isDraftSettings) ? compile({ ...versions, routes: new Map() }) : []),
    ...(routes.length > 0
      ? compile({
          ...versions,
          routes: new Map(routes),
          settings: isAccepted ? versions.settings : PLACEHOLDER_SETTINGS,
        })
      : []),
  ];

  function compile(some: Versions): readonly LocatedProblem[] {
    return new FileCompiler(options).update(some);
  }
}

function withDraft(candidate: Candidate): Candidate {
  const { draft } = candidate;
  return draft === undefined ? candidate : { ...candidate, resource: draft };
}

function isDraft({ draft }: Candidate): boolean {
  return draft !== undefined;
}

function isDraftSettings({ kind, draft }: Candidate): boolean {
  return kind === 'GatewaySettings' && draft !== undefined;
}
