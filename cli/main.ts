#!/usr/bin/env node
import { readFile } from 'node:fs/promises';

import { nearestName } from '../controller/validate/nearest-name.ts';
import { describeError } from '../shared/telemetry/logger.ts';
import type { Command } from './command.ts';
import { CommandFailure } from './command-failure.ts';
import { CONTROLLER } from './commands/controller.ts';
import { DEMO } from './commands/demo.ts';
import { PROXY } from './commands/proxy.ts';
import { RUN } from './commands/run.ts';
import { VALIDATE } from './commands/validate.ts';
import { readArguments } from './arguments.ts';
import { commandHelp, overview } from './help.ts';
import { UsageError } from './usage-error.ts';

const COMMANDS: readonly Command[] = [RUN, CONTROLLER, PROXY, VALIDATE, DEMO];

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

// Who reads the output may have enough of it: `gatehouse validate -f . | head`.
process.stdout.on('error', () => process.exit(EXIT_FAILED));

process.exitCode = await main(process.argv.slice(2));

/** Runs a command to its end and says how the process exits. */
async function main([name, ...argv]: readonly string[]): Promise<number> {
  try {
    return await dispatch(name, argv);
  } catch (error) {
    process.stderr.write(`gatehouse: ${inWords(error)}\n`);
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
}

/** What users can mend is said in a sentence; anything else with all there is to know. */
function inWords(error: unknown): string {
  const isForUser = error instanceof UsageError || error instanceof CommandFailure;
  return isForUser ? error.message : describeError(error);
}

async function dispatch(name: string | undefined, argv: readonly string[]): Promise<number> {
  if (name === 'help' || name === '--help' || name === '-h') return print(helpOf(argv[0]));
  if (name === '--version') return print(`gatehouse ${await version()}\n`);
  const command = find(name);
  if (argv.includes('--help') || argv.includes('-h')) return print(commandHelp(command.line));
  return command.run(readArguments(command.line, argv, process.env), process.env);
}

function helpOf(name: string | undefined): string {
  return name === undefined
    ? overview(COMMANDS.map(({ line }) => line))
    : commandHelp(find(name).line);
}

function find(name: string | undefined): Command {
  const command = COMMANDS.find(({ line }) => line.name === name);
  if (command !== undefined) return command;
  if (name === undefined) throw new UsageError(`a command is missing\n\n${helpOf(undefined)}`);
  const names = COMMANDS.map(({ line }) => line.name);
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? '' : `, did you mean ${nearest}?`;
  throw new UsageError(`unknown command "${name}"${hint}\nCommands: ${names.join(', ')}`);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

async function version(): Promise<string> {
  const manifest: unknown = JSON.parse(
    await readFile(new URL('../package.json', import.meta.url), 'utf8'),
  );
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}
