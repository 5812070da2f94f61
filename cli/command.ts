import type { Environment } from '../shared/runtime/environment.ts';
import type { Arguments, CommandLine } from './arguments.ts';

/** Environment and streams of a command. */
export interface CommandStreams {
  readonly environment: Environment;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

/** Runs a command. Resolves with the exit code: 1 if it found a problem or failed, else 0. */
export type RunCommand = (flags: Arguments, streams: CommandStreams) => Promise<number>;

/** A command of `gatehouse`. Its code is loaded when it runs: loading all takes half a second of CPU. */
export interface Command {
  readonly line: CommandLine;
  readonly load: () => Promise<RunCommand>;
  /** The help of `kubectl gatehouse` shows it. */
  readonly isForClusters?: true;
}
