import type { CommandLine, Flag, Operands } from './arguments.ts';

const INDENT = '  ';

/** Returns the text of `gatehouse help`, for a program that was called by this name. */
export function overview(commands: readonly CommandLine[], program: string): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    `Usage: ${program} COMMAND [FLAGS]`,
    '',
    'Commands:',
    ...commands.map(({ name, summary }) => `${INDENT}${name.padEnd(width)}  ${summary}`),
    '',
    `${program} COMMAND --help shows the flags of a command.`,
    '',
  ].join('\n');
}

/** Returns the text of `gatehouse COMMAND --help`: every flag with its variable and default. */
export function commandHelp(command: CommandLine): string {
  const flags = Object.entries(command.flags);
  const { name, operands, program = 'gatehouse' } = command;
  const takes = [flags.length === 0 ? '' : ' [FLAGS]', operands && ` ${usageOf(operands)}`];
  return [
    `Usage: ${program} ${name}${takes.join('')}`,
    '',
    `${command.summary}.`,
    ...(operands === undefined ? [] : ['', operands.description]),
    ...(flags.length === 0 ? [] : ['', 'Flags (a flag wins over its environment variable):']),
    ...flags.flatMap(([name, flag]) => flagHelp(name, flag)),
    '',
  ].join('\n');
}

function usageOf({ value, isOptional }: Operands): string {
  return isOptional === true ? `[${value}]` : value;
}

function flagHelp(name: string, flag: Flag): readonly string[] {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  const value = flag.value === undefined ? '' : ` ${flag.value}`;
  const notes = [
    flag.isRequired === true ? 'required' : '',
    flag.kind === 'list' ? 'may be repeated' : '',
    flag.defaultValue === undefined ? '' : `default ${flag.defaultValue}`,
    flag.environment ?? '',
  ].filter((note) => note !== '');
  return [
    `${INDENT}${short}--${name}${value}${notes.length === 0 ? '' : `  (${notes.join(', ')})`}`,
    `${INDENT}${INDENT}${INDENT}${flag.description}`,
  ];
}
