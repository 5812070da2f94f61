import { readFile } from 'node:fs/promises';

import { nearestName } from '../controller/validate/nearest-name.ts';
import { describeError } from '../shared/telemetry/describe-error.ts';
import { readArguments } from './arguments.ts';
import type { Command, CommandStreams } from './command.ts';
import { CommandFailure } from './command-failure.ts';
import { COMMANDS } from './commands.ts';
import { commandHelp, overview } from './help.ts';
import { UsageError } from './usage-error.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Runs the command that the arguments name. Resolves with the exit code, and never rejects. */
export async function runCommandLine(
  argv: readonly string[],
  streams: CommandStreams,
): Promise<number> {
  try {
    return await dispatch(argv, streams);
  } catch (error) {
    streams.stderr.write(`gatehouse: ${errorText(error)}\n`);
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
}

/** Returns the message of an error that the user can fix, and describes any other with its causes. */
function errorText(error: unknown): string {
  const isForUser = error instanceof UsageError || error instanceof CommandFailure;
  return isForUser ? error.message : describeError(error);
}

async function dispatch(
  [name, ...argv]: readonly string[],
  streams: CommandStreams,
): Promise<number> {
  const print = (text: string): number => {
    streams.stdout.write(text);
    return 0;
  };
  if (name === 'help' || name === '--help' || name === '-h') return print(helpOf(argv[0]));
  if (name === '--version') return print(`gatehouse ${await version()}\n`);
  const { line, load } = findCommand(name);
  if (argv.includes('--help') || argv.includes('-h')) return print(commandHelp(line));
  const flags = readArguments(line, argv, streams.environment);
  const run = await load();
  return run(flags, streams);
}

function helpOf(name: string | undefined): string {
  return name === undefined
    ? overview(COMMANDS.map(({ line }) => line))
    : commandHelp(findCommand(name).line);
}

function findCommand(name: string | undefined): Command {
  const command = COMMANDS.find(({ line }) => line.name === name);
  if (command !== undefined) return command;
  if (name === undefined) throw new UsageError(`a command is missing\n\n${helpOf(undefined)}`);
  const names = COMMANDS.map(({ line }) => line.name);
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? '' : `, did you mean ${nearest}?`;
  throw new UsageError(`unknown command "${name}"${hint}\nCommands: ${names.join(', ')}`);
}

async function version(): Promise<string> {
  const manifest: unknown = JSON.parse(
    await readFile(new URL('../package.json', import.meta.url), 'utf8'),
  );
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}
