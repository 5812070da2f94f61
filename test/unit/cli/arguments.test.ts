import { describe, expect, test } from '@jest/globals';

import { readArguments, type CommandLine } from '../../../cli/arguments.ts';
import { commandHelp, overview } from '../../../cli/help.ts';

const COMMAND: CommandLine = {
  name: 'serve',
  summary: 'Serve things',
  flags: {
    config: {
      kind: 'text',
      short: 'c',
      environment: 'APP_CONFIG',
      value: 'FILE',
      description: 'What to serve.',
      isRequired: true,
    },
    listen: {
      kind: 'text',
      environment: 'APP_LISTEN',
      defaultValue: ':80',
      value: 'HOST:PORT',
      description: 'Where to serve.',
    },
    loud: { kind: 'switch', environment: 'APP_LOUD', description: 'Say more.' },
  },
};

describe('readArguments', () => {
  test.each([
    { argv: ['--config', 'a'], environment: {}, config: 'a', listen: ':80', loud: false },
    { argv: ['--config=a', '--loud'], environment: {}, config: 'a', listen: ':80', loud: true },
    {
      argv: ['-c', 'a', '--listen', ':1'],
      environment: {},
      config: 'a',
      listen: ':1',
      loud: false,
    },
    {
      argv: [],
      environment: { APP_CONFIG: 'e', APP_LISTEN: ':2', APP_LOUD: 'true' },
      config: 'e',
      listen: ':2',
      loud: true,
    },
    {
      argv: ['--config', 'a', '--listen', ':1', '--loud'],
      environment: { APP_CONFIG: 'e', APP_LISTEN: ':2', APP_LOUD: 'false' },
      config: 'a',
      listen: ':1',
      loud: true,
    },
    {
      argv: ['--config', 'a'],
      environment: { APP_LISTEN: '', APP_LOUD: '0' },
      config: 'a',
      listen: ':80',
      loud: false,
    },
    {
      argv: ['--config', 'a', '--config', 'b'],
      environment: {},
      config: 'b',
      listen: ':80',
      loud: false,
    },
  ])('reads $argv with $environment', ({ argv, environment, config, listen, loud }) => {
    const flags = readArguments(COMMAND, argv, environment);
    expect(flags.text('config')).toBe(config);
    expect(flags.text('listen')).toBe(listen);
    expect(flags.isOn('loud')).toBe(loud);
  });

  test.each([
    { argv: [], message: '--config FILE (or APP_CONFIG) is required' },
    { argv: ['--confg', 'a'], message: 'unknown flag --confg, did you mean --config?' },
    { argv: ['--zzzzzzzzzzzz'], message: 'unknown flag --zzzzzzzzzzzz\n' },
    { argv: ['-x'], message: 'unknown flag -x' },
    { argv: ['a.yaml'], message: 'unexpected argument "a.yaml"' },
    { argv: ['--config'], message: '--config needs a value' },
    { argv: ['--config', '--loud'], message: '--config needs a value' },
    { argv: ['--config='], message: '--config needs a value' },
    { argv: ['--config', 'a', '--loud=maybe'], message: '--loud (or APP_LOUD) is true or false' },
  ])('refuses $argv', ({ argv, message }) => {
    expect(() => readArguments(COMMAND, argv, {})).toThrow(message);
  });

  test('refuses a switch in the environment that is neither on nor off', () => {
    const environment = { APP_CONFIG: 'a', APP_LOUD: 'yes please' };
    expect(() => readArguments(COMMAND, [], environment)).toThrow('--loud (or APP_LOUD) is');
  });

  test.each([
    { from: 'a flag', argv: ['--config', 'caf\uFFFD.yaml'], environment: {} },
    { from: 'a variable', argv: [], environment: { APP_CONFIG: 'caf\uFFFD.yaml' } },
  ])('refuses a value that is not UTF-8 from $from', ({ argv, environment }) => {
    const message = '--config (or APP_CONFIG) has a value that is not UTF-8';
    expect(() => readArguments(COMMAND, argv, environment)).toThrow(message);
  });

  test('says where the help is', () => {
    expect(() => readArguments(COMMAND, ['--x'], {})).toThrow('See: gatehouse serve --help');
  });
});

describe('readArguments of a command with operands and lists', () => {
  const MANY: CommandLine = {
    name: 'serve all',
    summary: 'Serve everything',
    operands: { value: 'FILE...', description: 'What to serve.' },
    flags: { header: { kind: 'list', value: 'NAME:VALUE', description: 'A field.' } },
  };

  test('returns every value and every operand, in their order', () => {
    const argv = ['b', '--header', 'x: 1', 'a', '--header=y: 2', '--', '--c'];
    const flags = readArguments(MANY, argv, {});

    expect(flags.list('header')).toEqual(['x: 1', 'y: 2']);
    expect(flags.operands).toEqual(['b', 'a', '--c']);
  });

  test('refuses a command line without operands', () => {
    expect(() => readArguments(MANY, [], {})).toThrow('FILE... is required');
  });

  test('shows both in the help', () => {
    expect(commandHelp(MANY)).toBe(`Usage: gatehouse serve all [FLAGS] FILE...

Serve everything.

What to serve.

Flags (a flag wins over its environment variable):
  --header NAME:VALUE  (may be repeated)
      A field.
`);
  });
});

describe('help', () => {
  test('of a command names each flag with its variable and default', () => {
    expect(commandHelp(COMMAND)).toBe(`Usage: gatehouse serve [FLAGS]

Serve things.

Flags (a flag wins over its environment variable):
  -c, --config FILE  (required, APP_CONFIG)
      What to serve.
  --listen HOST:PORT  (default :80, APP_LISTEN)
      Where to serve.
  --loud  (APP_LOUD)
      Say more.
`);
  });

  test('names each command', () => {
    const commands = [COMMAND, { ...COMMAND, name: 'go', summary: 'Go' }];
    expect(overview(commands, 'gatehouse')).toContain('  serve  Serve things\n  go     Go\n');
  });
});
