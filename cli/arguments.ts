import { parseArgs } from 'node:util';

import { nearestName } from '../controller/validate/nearest-name.ts';
import type { Environment } from '../shared/runtime/environment.ts';
import { UsageError } from './usage-error.ts';

const REPLACEMENT_CHARACTER = '\uFFFD';

/** A flag of a command, as its help shows it. */
export interface Flag {
  /** `list`: a text that may be given several times. */
  readonly kind: 'text' | 'list' | 'switch';
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

/** The arguments of a command that are no flags, as its help shows them. */
export interface Operands {
  /** `FILE...` */
  readonly value: string;
  readonly description: string;
  /** Absent: at least one is needed. */
  readonly isOptional?: true;
}

/** The name, summary and flags of a command, for parsing and for its help. */
export interface CommandLine {
  /** One word or two: `policy test`. */
  readonly name: string;
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** Absent if the command has flags only. */
  readonly operands?: Operands;
  /** How the program was called; absent: `gatehouse`. */
  readonly program?: string;
}

/** The values of a command's flags. */
export interface Arguments {
  /** Returns the value of a flag; undefined if it is not given and has no default. */
  text(flag: string): string | undefined;
  /** Returns the values of a flag of kind `list`, in the order in which they were given. */
  list(flag: string): readonly string[];
  isOn(flag: string): boolean;
  readonly operands: readonly string[];
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
  const { given, operands } = parse(command, argv);
  const texts = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();
  const switches = new Set<string>();
  for (const [name, flag] of Object.entries(command.flags)) {
    const all = given.get(name) ?? [];
    const value = all.at(-1) ?? fromEnvironment(flag, environment) ?? flag.defaultValue;
    if (value === undefined) {
      if (flag.isRequired === true) throw new UsageError(missing(command, name, flag));
    } else if (flag.kind === 'list') {
      lists.set(
        name,
        all.map((each) => readable(String(each), name, flag)),
      );
    } else if (flag.kind === 'text') {
      texts.set(name, readable(String(value), name, flag));
    } else if (isTrue(value, name, flag)) {
      switches.add(name);
    }
  }
  return {
    text: (flag) => texts.get(flag),
    list: (flag) => lists.get(flag) ?? [],
    isOn: (flag) => switches.has(flag),
    operands,
  };
}

/** What the command line itself has: all values of each flag, and the operands. */
interface Given {
  readonly given: ReadonlyMap<string, readonly (string | boolean)[]>;
  readonly operands: readonly string[];
}

/** Parses in the lenient mode of `parseArgs`, so that the error messages are ours. */
function parse(command: CommandLine, argv: readonly string[]): Given {
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([name, { kind, short }]) => {
      const type = kind === 'switch' ? ('boolean' as const) : ('string' as const);
      return [name, { type, ...(short === undefined ? {} : { short }) }];
    }),
  );
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const given = new Map<string, (string | boolean)[]>();
  const operands: string[] = [];
  for (const token of tokens) {
    switch (token.kind) {
      case 'positional':
        if (command.operands === undefined) {
          throw new UsageError(`unexpected argument "${token.value}"${seeHelp(command)}`);
        }
        operands.push(readableText(token.value, command.operands.value));
        break;
      case 'option-terminator':
        break;
      case 'option': {
        const flag = command.flags[token.name];
        if (flag === undefined) throw new UsageError(unknown(command, token.rawName, token.name));
        given.set(token.name, [...(given.get(token.name) ?? []), valueOf(command, flag, token)]);
        break;
      }
    }
  }
  const needed = command.operands?.isOptional === true ? undefined : command.operands;
  if (needed !== undefined && operands.length === 0) {
    throw new UsageError(`${needed.value} is required${seeHelp(command)}`);
  }
  return { given, operands };
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

function readable(value: string, name: string, flag: Flag): string {
  const variable = flag.environment === undefined ? '' : ` (or ${flag.environment})`;
  return readableText(value, `--${name}${variable}`);
}

/** Node decodes arguments and environment variables with replacement characters. */
function readableText(value: string, what: string): string {
  if (!value.includes(REPLACEMENT_CHARACTER)) return value;
  throw new UsageError(`${what} has a value that is not UTF-8`);
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

function seeHelp({ name, program = 'gatehouse' }: CommandLine): string {
  return `\nSee: ${program} ${name} --help`;
}
