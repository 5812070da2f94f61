import type { CompileOptions } from '../compile/resources.ts';
import type { Candidates } from './candidates.ts';
import { findConflictingNames } from './conflicting-names.ts';
import { findDraftProblems } from './draft-problems.ts';
import { FileCompiler, type ServedFiles } from './file-compiler.ts';
import { sortLocated, type LocatedProblem } from './located-problem.ts';
import { findVersions } from './versions.ts';

/** The result of compiling the files once more. */
export interface FileUpdate {
  /** Undefined until usable settings are known. */
  readonly served: ServedFiles | undefined;
  /** Everything wrong with the newest versions, in the order of the files. */
  readonly problems: readonly LocatedProblem[];
}

/**
 * The configuration in files. The newest version of each resource serves if the compiler accepts it,
 * and otherwise the last good version.
 */
export class FileConfiguration {
  readonly #options: CompileOptions;
  readonly #compiler: FileCompiler;

  constructor(options: Omit<CompileOptions, 'withoutSettings'>) {
    this.#options = { ...options, withoutSettings: 'defaults' };
    this.#compiler = new FileCompiler(this.#options);
  }

  /** Compiles the present contents of the files. */
  update(candidates: Candidates): FileUpdate {
    const { resources, brokenFiles } = candidates;
    const found = this.#compiler.update(findVersions(candidates));
    const { served, isSettingsAccepted: isAccepted } = this.#compiler;
    const settings = { isAccepted, isServing: served !== undefined };
    const problems = [
      ...[...brokenFiles.values()].flat(),
      ...resources.flatMap((candidate) => candidate.problems),
      ...findConflictingNames(resources),
      ...found,
      ...findDraftProblems(candidates, settings, this.#options),
    ];
    return { served, problems: sortLocated(problems) };
  }
}
