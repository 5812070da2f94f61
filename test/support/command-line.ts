import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';

import { readArguments } from '../../cli/arguments.ts';
import { readRunFlags, RUN_LINE } from '../../cli/commands/run/run-flags.ts';
import {
  startStandaloneGateway,
  type StandaloneGateway,
} from '../../cli/process/standalone-gateway.ts';
import { runCommandLine } from '../../cli/run-command-line.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import type { CommandResult, LogRecord } from './cli.ts';
import { eventually } from './eventually.ts';

/** Runs a command of `gatehouse` that ends by itself, in this process. */
export async function runInProcess(
  argv: readonly string[],
  environment: Environment = {},
): Promise<CommandResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runCommandLine(argv, { environment, stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, stdout: await text(stdout), stderr: await text(stderr) };
}

/** A `gatehouse run` in this process. */
export interface LocalStandalone extends StandaloneGateway, AsyncDisposable {
  /** Everything that it has logged. */
  readonly log: readonly LogRecord[];
  /** Returns the first record that fits, once there is one. */
  logged(fits: (record: LogRecord) => boolean): Promise<LogRecord>;
}

/** Starts `gatehouse run` with these flags, and state in memory. */
export async function startLocalStandalone(argv: readonly string[]): Promise<LocalStandalone> {
  const flags = readRunFlags(readArguments(RUN_LINE, argv, {}));
  const log: LogRecord[] = [];
  const lines = new LineWriter({
    write: (written) => {
      // The log is one JSON object a line.
      log.push(
        ...written
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as LogRecord),
      );
    },
  });
  const logger = createLogger('gatehouse', lines);
  const gateway = await startStandaloneGateway({
    ...flags,
    redis: undefined,
    environment: {},
    logger,
    lines,
  });
  return {
    ...gateway,
    log,
    async logged(fits) {
      await eventually('it is logged', () => log.some(fits));
      // The wait ended because there is one.
      return log.find(fits) ?? {};
    },
    [Symbol.asyncDispose]: () => gateway.close(),
  };
}
