import { parseArgs } from 'node:util';

import { nearestName } from '../controller/validate/nearest-name.ts';
import type { Environment } from '../shared/runtime/environment.ts';
import { UsageError } from './usage-error.ts';

const REPLACEMENT_CHARACTER = '\uFFFD';

/** A flag of a command, as its help shows it. */
export interface Flag {
  readonly kind: 'text' | 'switch';
  /** One letter: `-f`. */
  readonly short?: string;
  /** Environment variable that stands for the flag; the flag wins. */
  readonly environment?: string;
  readonly defaultValue?: string;
  /** Name of the value in the help: `FILE|DIR`. */
  readonly value?: string;
  readonly description: string;
  readonly isRequired?: true;
}

/** The name, summary and flags of a command, for parsing and for its help. */
export interface CommandLine {
  readonly name: string;
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag>>;
}

/** The values of a command's flags. */
export interface Arguments {
  /** Returns the value of a flag; undefined if it is not given and has no default. */
  text(flag: string): string | undefined;
  isOn(flag: string): boolean;
}

/**
 * Reads a command's arguments: flags, then environment variables, then defaults.
 *
 * An empty environment variable counts as unset. Throws `UsageError`.
 */
export function readArguments(
  command: CommandLine,
  argv: readonly string[],
  environment: Environment,
): Arguments {
  const given = parse(command, argv);
  const texts = new Map<string, string>();
  const switches = new Set<string>();
  for (const [name, flag] of Object.entries(command.flags)) {
    const value = given.get(name) ?? fromEnvironment(flag, environment) ?? flag.defaultValue;
    if (value === undefined) {
      if (flag.isRequired === true) throw new UsageError(missing(command, name, flag));
    } else if (flag.kind === 'text') {
      texts.set(name, readable(String(value), name, flag));
    } else if (isTrue(value, name, flag)) {
      switches.add(name);
    }
  }
  return { text: (flag) => texts.get(flag), isOn: (flag) => switches.has(flag) };
}

type Given = ReadonlyMap<string, string | boolean>;

/** Parses in the lenient mode of `parseArgs`, so that the error messages are ours. */
function parse(command: CommandLine, argv: readonly string[]): Given {
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([name, { kind, short }]) => {
      const type = kind === 'text' ? ('string' as const) : ('boolean' as const);
      return [name, { type, ...(short === undefined ? {} : { short }) }];
    }),
  );
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const given = new Map<string, string | boolean>();
  for (const token of tokens) {
    switch (token.kind) {
      case 'positional':
        throw new UsageError(`unexpected argument "${token.value}"${seeHelp(command)}`);
      case 'option-terminator':
        break;
      case 'option': {
        const flag = command.flags[token.name];
        if (flag === undefined) throw new UsageError(unknown(command, token.rawName, token.name));
        given.set(token.name, valueOf(command, flag, token));
        break;
      }
    }
  }
  return given;
}

interface OptionToken {
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function valueOf(command: CommandLine, flag: Flag, token: OptionToken): string | boolean {
  const { rawName, value, inlineValue } = token;
  if (flag.kind === 'switch') return value ?? true;
  // If the next flag follows, the value of this flag was forgotten.
  const isNextFlag = inlineValue !== true && value?.startsWith('--') === true;
  if (value === undefined || value === '' || isNextFlag) {
    throw new UsageError(`${rawName} needs a value${seeHelp(command)}`);
  }
  return value;
}

function fromEnvironment(flag: Flag, environment: Environment): string | undefined {
  const value = flag.environment === undefined ? undefined : environment[flag.environment];
  return value === '' ? undefined : value;
}

/** Node decodes arguments and environment variables with replacement characters. */
function readable(value: string, name: string, flag: Flag): string {
  if (!value.includes(REPLACEMENT_CHARACTER)) return value;
  const variable = flag.environment === undefined ? '' : ` (or ${flag.environment})`;
  throw new UsageError(`--${name}${variable} has a value that is not UTF-8`);
}

function isTrue(value: string | boolean, name: string, flag: Flag): boolean {
  if (typeof value === 'boolean') return value;
  const word = value.toLowerCase();
  if (word === 'true' || word === '1') return true;
  if (word === 'false' || word === '0') return false;
  const variable = flag.environment === undefined ? '' : ` (or ${flag.environment})`;
  throw new UsageError(`--${name}${variable} is true or false, not "${value}"`);
}

function missing(command: CommandLine, name: string, flag: Flag): string {
  const variable = flag.environment === undefined ? '' : ` (or ${flag.environment})`;
  const value = flag.value === undefined ? '' : ` ${flag.value}`;
  return `--${name}${value}${variable} is required${seeHelp(command)}`;
}

function unknown(command: CommandLine, rawName: string, name: string): string {
  const nearest = nearestName(name, Object.keys(command.flags));
  const hint = nearest === undefined ? '' : `, did you mean --${nearest}?`;
  return `unknown flag ${rawName}${hint}${seeHelp(command)}`;
}

function seeHelp(command: CommandLine): string {
  return `\nSee: gatehouse ${command.name} --help`;
}
