import type { CommandProgram } from '../../support/cli.ts';
import type { Cost } from './cost.ts';

/** A command whose start is measured. */
export interface Subject {
  readonly name: string;
  /** Starts it, waits until it is done or ready, and ends it. */
  readonly start: (program: CommandProgram) => Promise<Cost>;
  /** The time that is promised of it, besides its CPU. */
  readonly promisedWallMs?: number;
}
