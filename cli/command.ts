import type { Arguments, CommandLine, Environment } from './arguments.ts';

/** A command of `gatehouse`. */
export interface Command {
  readonly line: CommandLine;
  /** Resolves with the exit code: 0 for good, 1 when a problem was found or the process failed. */
  run(flags: Arguments, environment: Environment): Promise<number>;
}
