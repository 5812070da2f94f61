import { nearestName } from '../controller/validate/nearest-name.ts';
import { describeError } from '../shared/telemetry/describe-error.ts';
import { readArguments, type CommandLine } from './arguments.ts';
import type { Command, CommandStreams } from './command.ts';
import { CommandFailure } from './command-failure.ts';
import { COMMANDS } from './commands.ts';
import { commandHelp, overview } from './help.ts';
import { readVersion } from './read-version.ts';
import { UsageError } from './usage-error.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const GATEHOUSE = 'gatehouse';

/**
 * Runs the command that the arguments name. Resolves with the exit code, and never rejects. `program` is how
 * the program was called, for its usage texts.
 */
export async function runCommandLine(
  argv: readonly string[],
  streams: CommandStreams,
  program = GATEHOUSE,
): Promise<number> {
  try {
    return await dispatch(argv, streams, program);
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
  argv: readonly string[],
  streams: CommandStreams,
  program: string,
): Promise<number> {
  const print = (text: string): number => {
    streams.stdout.write(text);
    return 0;
  };
  const [first = '', ...rest] = argv;
  if (first === 'help' || first === '--help' || first === '-h') return print(helpOf(rest, program));
  if (first === '--version') return print(`gatehouse ${await readVersion()}\n`);
  if (argv.includes('--help') || argv.includes('-h')) return print(helpOf(argv, program));
  const { line: ownLine, load } = findCommand(argv, program);
  const line = { ...ownLine, program };
  const given = argv.slice(wordsOf(line.name).length);
  const flags = readArguments(line, given, streams.environment);
  const run = await load();
  return run(flags, streams);
}

function helpOf(words: readonly string[], program: string): string {
  const group = commandsOf(words);
  if (group.length > 0) return overview(group, program);
  if (words.length > 0) return commandHelp({ ...findCommand(words, program).line, program });
  const isPlugin = program !== GATEHOUSE;
  const shown = COMMANDS.filter(({ isForClusters }) => !isPlugin || isForClusters === true);
  return overview(
    shown.map(({ line }) => line),
    program,
  );
}

/** Returns the commands of two words that begin with the only word that is given. */
function commandsOf(words: readonly string[]): readonly CommandLine[] {
  const [first = '', second = '-'] = words;
  if (!second.startsWith('-')) return [];
  return COMMANDS.map(({ line }) => line).filter(({ name }) => name.startsWith(`${first} `));
}

/** Finds the command that the arguments begin with. */
function findCommand(argv: readonly string[], program: string): Command {
  const command = COMMANDS.find(({ line }) =>
    wordsOf(line.name).every((word, index) => argv[index] === word),
  );
  if (command !== undefined) return command;
  const [first] = argv;
  if (first === undefined) throw new UsageError(`a command is missing\n\n${helpOf([], program)}`);
  const names = COMMANDS.map(({ line }) => line.name);
  const ofTwoWords = names.find((name) => name.startsWith(`${first} `));
  const words = argv.slice(0, 2).filter((word) => !word.startsWith('-'));
  const given = ofTwoWords === undefined ? first : words.join(' ');
  const nearest = nearestName(given, names) ?? ofTwoWords;
  const hint = nearest === undefined ? '' : `, did you mean ${nearest}?`;
  throw new UsageError(`unknown command "${given}"${hint}\nCommands: ${names.join(', ')}`);
}

function wordsOf(name: string): readonly string[] {
  return name.split(' ');
}
